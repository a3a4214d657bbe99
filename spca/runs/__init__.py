"""A run: its options, start, folder, records and results."""
