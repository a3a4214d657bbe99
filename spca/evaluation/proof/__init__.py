"""Proofs about an episode, with knowledge of the whole grid: that it can be solved, or that nothing solves it."""
