"""SQL over the tables of run folders."""
