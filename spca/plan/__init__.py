"""PDDL text, and the solver in a process of its own."""
