"""Playing of episodes in batches by worker processes, with stored writers, a model or the bot."""
