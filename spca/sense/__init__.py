"""From views to a map in words: what the agent knows of its world."""
