"""Results as one page: rates, episodes, and a player that draws each step of the episodes."""
