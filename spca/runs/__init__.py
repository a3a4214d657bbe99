"""A run: its command line, start, folder, records and results."""
