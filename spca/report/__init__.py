"""Reports on runs: the contents of run folders as terminal tables, a page, a live page, pictures and SQL tables."""
