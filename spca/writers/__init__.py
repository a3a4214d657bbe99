"""Compiled planning: problem writers that came with a planner's answers, kept and tried before a model is asked."""
