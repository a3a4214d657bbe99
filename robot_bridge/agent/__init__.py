"""A robot as the world of an agent that was learned in a grid world."""
