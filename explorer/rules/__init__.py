"""What may happen in every world: blocks, items, recipes, and the one function that changes a state."""
