"""Atomic tasks: what one hop may ask for, and why other tasks are not asked for."""
