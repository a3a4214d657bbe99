"""How episodes are played: in batches, by worker processes, with stored writers, a model or the bot."""
