"""Plans carried out in a world, checkpoints, and what is corrected in the simulator."""
