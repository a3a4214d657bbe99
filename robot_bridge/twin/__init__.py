"""The simulated robot: its worlds, its physics, its noise and what is wrong with it."""
