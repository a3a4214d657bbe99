"""Lower bounds of the exact search, from projections of a task that are small enough for a complete search."""
