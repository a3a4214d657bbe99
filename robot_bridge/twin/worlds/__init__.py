"""What the simulated robot stands in: random worlds, and levels with their judge."""
