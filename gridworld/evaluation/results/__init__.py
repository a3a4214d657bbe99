"""Results files and the leaderboard that compares them."""
