"""Navigators, which decide what the robot does: a language model that is asked, and the reference navigator."""
