"""Execution of an evaluation: settings, tasks, workers, episodes and resumption."""
