"""Evaluation: the models, the harness in which models play tasks, and the results files."""
