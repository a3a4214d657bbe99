"""Frozen evaluation: a learned library and its writers play unseen episodes, and no new code is written."""
