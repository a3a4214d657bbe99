"""Agents, and their registry."""
