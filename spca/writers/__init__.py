"""Compiled planning: problem writers from a planner's answers are stored, and tried on later levels before a model is
called.
"""
