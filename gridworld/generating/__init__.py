"""Generation of tasks: floor plans, locks on cells that separate start and goal, distractors, and proofs.

A new task begins as a :class:`~gridworld.generating.draft.Draft` on a :class:`~gridworld.generating.floor.Floor`. A
recipe (:mod:`~gridworld.generating.recipes`) fills the draft. :mod:`~gridworld.generating.generator` keeps the task if
a certificate proves that the task can be solved.
"""
