"""SQL queries over run folders as tables."""
