"""Skills for gridworld tasks, which use some of those for the curriculum."""
