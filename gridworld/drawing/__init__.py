"""Pictures of tasks and episodes, as RGB arrays and as PNG and GIF files.

::

    from gridworld.drawing import episode_frames, save_gif, save_png, task_picture

    save_png("task.png", task_picture(spec, "hex", reveal=True))
    save_gif("episode.gif", episode_frames(spec, "hex", [2, 2, 1]), seconds_per_frame=0.3)

RGB arrays need only numpy; files also need Pillow.
"""

from __future__ import annotations

from gridworld.drawing.episodes import episode_frames, task_picture
from gridworld.drawing.image_files import png_bytes, save_gif, save_png
from gridworld.drawing.picturing import TILE_SIZE, checked_tile_size, picture

__all__ = [
    "TILE_SIZE",
    "checked_tile_size",
    "episode_frames",
    "picture",
    "png_bytes",
    "save_gif",
    "save_png",
    "task_picture",
]
