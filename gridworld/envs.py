"""Importing this makes the tasks known to gymnasium, as with every module that gymnasium imports for its ids.

``gymnasium.make("gridworld.envs:gridworld/V04_single_key-v0")`` needs nothing else; see :mod:`gridworld.registration`.
"""

from __future__ import annotations

from gridworld.registration import register

register()
