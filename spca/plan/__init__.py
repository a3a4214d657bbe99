"""PDDL texts, and the PDDL solver, which runs in a separate process."""
