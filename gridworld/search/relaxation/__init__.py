"""Lower bounds for the exact search, from projections: simplified tasks that are small enough for a complete search."""
