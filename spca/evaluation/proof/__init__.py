"""What can be proven of an episode with full information: that it can be solved, or that nothing solves it."""
