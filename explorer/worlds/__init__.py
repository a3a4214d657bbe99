"""Worlds that carry out steps: the voxel world, and gridworld tasks seen as a flat one."""
