"""Adapters of vision models under their public names; the code is in :mod:`gridworld.adapters`."""
