"""Lenient readers that convert the files of run folders to values."""
