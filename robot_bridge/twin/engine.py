"""MuJoCo, and the way to draw without a screen that this machine has."""

from __future__ import annotations

import os
from ctypes import CDLL
from ctypes.util import find_library
from importlib import import_module
from typing import Any

from robot_bridge.errors import SetupError
from spca.common.installation import how_to_get

_LIBRARIES = {"osmesa": "OSMesa", "egl": "EGL"}
"""By value of ``MUJOCO_GL``, the preferred one first: OSMesa draws the same everywhere."""
_ADVICE = "apt install libosmesa6"


class NoPictureError(Exception):
    """This machine cannot draw; ``str(error)`` says why."""


def mujoco() -> Any:
    """Return the library.

    Where ``MUJOCO_GL`` does not say how to draw, it is set: MuJoCo reads it when it is imported.

    Raises:
        SetupError: MuJoCo is not installed, or ``MUJOCO_GL`` says something that it does not know.
    """
    if not os.environ.get("MUJOCO_GL"):
        loadable = (way for way, library in _LIBRARIES.items() if _can_load(library))
        os.environ["MUJOCO_GL"] = next(loadable, "disable")
    try:
        import mujoco  # type: ignore[import-untyped]
    except ImportError as error:
        message = f"the simulated robot needs MuJoCo ({error}): {how_to_get('robot')}"
        raise SetupError(message) from error
    except RuntimeError as error:
        raise SetupError(f"{error}: unset MUJOCO_GL or say osmesa, egl or disable") from error
    return mujoco


class Canvas:
    """An OpenGL context in memory, by the way that ``MUJOCO_GL`` says; current while it is entered.

    It is given back afterwards, so that any thread may draw, one at a time.

    Raises:
        NoPictureError: there is none.
    """

    def __init__(self) -> None:
        way = os.environ.get("MUJOCO_GL", "").lower()
        if way not in _LIBRARIES:
            raise NoPictureError(f"no way to draw without a screen (MUJOCO_GL={way}): {_ADVICE}, with MUJOCO_GL unset")
        try:
            # Not mujoco.GLContext: whoever imported MuJoCo first may have made that one for a screen.
            self._backend = import_module(f"mujoco.{way}")
            self._context: Any = self._backend.GLContext(16, 16)
            with self:
                pass
        except Exception as error:  # the backends raise types of their own; a robot without a camera still drives
            raise NoPictureError(f"{way} failed ({type(error).__name__}): {_ADVICE}, with MUJOCO_GL unset") from error

    def __enter__(self) -> None:
        self._context.make_current()

    def __exit__(self, *_: object) -> None:
        egl = getattr(self._backend, "EGL", None)
        if egl is not None:  # OSMesa needs no giving back
            display = self._backend.EGL_DISPLAY
            nowhere = egl.EGL_NO_SURFACE
            egl.eglMakeCurrent(display, nowhere, nowhere, egl.EGL_NO_CONTEXT)

    def close(self) -> None:
        self._context.free()


def _can_load(library: str) -> bool:
    path = find_library(library)
    if path is None:
        return False
    try:
        CDLL(path)
    except OSError:
        return False
    return True
