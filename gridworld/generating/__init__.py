"""How tasks are made: floor plans, locks on the cells that separate start and goal, things that lead astray, and proof.

A task is a :class:`~gridworld.generating.draft.Draft` on a :class:`~gridworld.generating.floor.Floor`; recipes
(:mod:`~gridworld.generating.recipes`) fill it, and :mod:`~gridworld.generating.generator` keeps what a certificate
proves.
"""
