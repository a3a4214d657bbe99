"""Tasks: their records, how files of them are read and written, and what makes one valid."""
