"""Results as one page: rates, episodes, and a player that draws them again from blocks and codes."""
