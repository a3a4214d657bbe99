"""Compiled planning: stored problem writers from a planner's answers, which are tried before a model is asked."""
