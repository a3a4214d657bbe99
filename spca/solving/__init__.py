"""Behind :mod:`spca.solver`: the process that solves, what it does with PDDL, and how it is talked to."""
