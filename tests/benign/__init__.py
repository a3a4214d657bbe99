"""Harmless generated code: what a wall around it must let through, and what it must not change."""
