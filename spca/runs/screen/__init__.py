"""Output of a run in a terminal or a file."""
