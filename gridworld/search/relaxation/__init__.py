"""Projections of a task that are small enough to be searched whole: the lower bounds of the exact search."""
