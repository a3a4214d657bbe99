"""Gridworld tasks: specification, two backends, runner, evaluation of models."""
