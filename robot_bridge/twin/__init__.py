"""The simulated robot: its worlds, its physics, and the errors of its sensors."""
