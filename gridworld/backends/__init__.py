"""Backends: environments that play a task."""
