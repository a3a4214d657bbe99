"""Frozen evaluation: agents and problem writers that a run has learned play unseen episodes; no code is written."""
