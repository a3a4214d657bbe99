"""MuJoCo, imported with the way to draw that this machine has."""

from __future__ import annotations

import os
from ctypes import CDLL
from ctypes.util import find_library
from typing import Any

from robot_bridge.errors import SetupError

_WAYS = (("osmesa", "OSMesa"), ("egl", "EGL"))
"""Values of ``MUJOCO_GL`` and the libraries that they need, the preferred one first: it draws the same everywhere."""


def mujoco() -> Any:
    """The library. Unless ``MUJOCO_GL`` says how to draw, it is set, before it is read at the first import.

    Raises:
        SetupError: it is not installed, or ``MUJOCO_GL`` says something that it does not know.
    """
    if "MUJOCO_GL" not in os.environ:
        os.environ["MUJOCO_GL"] = next((way for way, library in _WAYS if _can_load(library)), "disable")
    try:
        import mujoco
    except ImportError as error:
        message = f"the simulated robot needs MuJoCo ({error}): pip install 'sense-plan-code-act[robot]'"
        raise SetupError(message) from error
    except RuntimeError as error:
        raise SetupError(f"{error}: unset MUJOCO_GL or say osmesa, egl or disable") from error
    return mujoco


def _can_load(library: str) -> bool:
    path = find_library(library)
    if path is None:
        return False
    try:
        CDLL(path)
    except OSError:
        return False
    return True
