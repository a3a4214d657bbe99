"""Atomic tasks: what one hop may ask for, and why other candidates were dropped."""
