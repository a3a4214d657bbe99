"""Atomic tasks: achievements for which a hop may ask, and candidates that were dropped, with the reasons."""
