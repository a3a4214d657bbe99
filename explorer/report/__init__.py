"""Results as one page: rates, episodes, and a player that redraws them from blocks and codes."""
