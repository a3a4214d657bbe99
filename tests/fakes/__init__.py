"""Servers on loopback that stand for model providers."""
