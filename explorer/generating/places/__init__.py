"""Place a plan in a scene: rooms, passages, things and the spawn.

The package also lists the deeds: the abstract steps by which the witness achieves the goal.
"""
