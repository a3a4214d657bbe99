"""Worlds of the simulated robot: random worlds, and twins of MiniGrid levels with a judge."""
