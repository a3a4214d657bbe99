"""Adapter that lets a robot serve as the world of an agent that was learned in a grid world."""
