"""The rules of every world: blocks, items, recipes, and the function that decides what an event changes."""
