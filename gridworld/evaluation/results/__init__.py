"""Results files, and the leaderboard that compares results files."""
