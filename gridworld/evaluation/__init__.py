"""Evaluation: models, the harness that lets them play tasks, and what is written about it."""
