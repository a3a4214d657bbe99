"""Public import path of the adapters for vision models; the code is in :mod:`gridworld.adapters`."""
