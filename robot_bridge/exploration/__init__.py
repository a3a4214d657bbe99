"""Exploration: when the model is asked, what the robot does without an answer, and how the exploration ends."""
