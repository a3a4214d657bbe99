"""Compiled planning: a planner's answers contain problem writers, which are stored.

On later levels, the stored writers are tried before a model is called.
"""
