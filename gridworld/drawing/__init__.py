"""Pictures of tasks: what a model sees, as RGB arrays and as files."""

from __future__ import annotations

from gridworld.drawing.picturing import TILE_SIZE, checked_tile_size, picture

__all__ = ["TILE_SIZE", "checked_tile_size", "picture"]
