"""The part of the reference planner for gridworld tasks: keys, doors, switches, gates, blocks, teleporters and hazards.

A curriculum level is mostly unseen, so its plan only names skills. Much of a gridworld task is known, so its plan also
has to find a good order of the work. :mod:`.terrain` reads the map from the prompt, and :mod:`.errands` reads the
mission. :mod:`.search` finds the cheapest way to do all errands. :mod:`.strategy` turns this way into jobs, and
:mod:`.formulation` writes the jobs and their order as PDDL.
"""
