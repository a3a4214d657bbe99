"""Frozen evaluation: a learned library and its writers play episodes that were never seen; no code is written."""
