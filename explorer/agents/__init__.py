"""Agents, and the registry of agents by name."""
