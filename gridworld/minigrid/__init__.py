"""A task in MiniGrid's terms: the objects of the grid, and the view of the agent."""
