"""The reference planner's view of gridworld tasks: keys, doors, switches, gates, blocks, teleporters and hazards.

Where a curriculum level is mostly unknown and a plan names skills, much of such a task is known and the order of the
work is what matters: :mod:`.terrain` reads the map out of the prompt, :mod:`.errands` the mission, :mod:`.search` finds
the cheapest way of doing it all, and :mod:`.formulation` writes what that way has to do, and in which order, as PDDL.
"""
