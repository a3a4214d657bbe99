"""Proofs about scenes.

A witness is a list of actions that achieves the goal in the world itself. A closure contains everything that could ever
happen; closures show which milestones are necessary for the goal.
"""
