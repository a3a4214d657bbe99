"""The reference planner's view of gridworld tasks: keys, doors, switches, gates, blocks, teleporters and hazards.

A curriculum level is mostly unknown, so a plan names skills. Much of a gridworld task is known, so the order of the
work matters. :mod:`.terrain` reads the map out of the prompt, and :mod:`.errands` reads the mission. :mod:`.search`
finds the cheapest way of doing all errands. :mod:`.strategy` turns this way into jobs, and :mod:`.formulation` writes
the jobs and their order as PDDL.
"""
