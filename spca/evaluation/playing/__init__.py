"""Playing of episodes in batches by worker processes; stored writers, a model or the bot plan."""
