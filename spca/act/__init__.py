"""Execution of plans in a world, checkpoints, and corrections of the simulator."""
