"""Worlds that carry out steps: the voxel world, and a flat world for gridworld tasks."""
