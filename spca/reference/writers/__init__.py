"""Problem writers of the embedded model, ``NAME_VERSION.py`` beside the domain that its problems are for.

They are examples of what a planner can answer beside its PDDL: each is complete, imports ``re`` alone, matches a
mission in full, derives every fact from the snapshot and raises ValueError for all else. A later version reads what an
earlier one reads, and more.
"""
