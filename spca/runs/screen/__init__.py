"""What a user sees of a run in a terminal or a file."""
