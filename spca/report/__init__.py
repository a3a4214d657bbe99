"""Looking at runs: what run folders hold, as terminal tables, a page, a live page, pictures and SQL tables."""
