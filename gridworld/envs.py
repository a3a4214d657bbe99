"""Importing this module registers the tasks with gymnasium.

``gymnasium.make("gridworld.envs:gridworld/V04_single_key-v0")`` imports this module by itself, so the caller need not
register the tasks; see :mod:`gridworld.registration`.
"""

from __future__ import annotations

from gridworld.registration import register

register()
