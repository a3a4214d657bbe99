"""Import MuJoCo, and find a way to draw without a screen on this machine."""

from __future__ import annotations

import os
from ctypes import CDLL
from ctypes.util import find_library
from importlib import import_module
from typing import Any

from robot_bridge.errors import SetupError
from spca.common.installation import how_to_get

_LIBRARIES = {"osmesa": "OSMesa", "egl": "EGL"}
"""For each value of ``MUJOCO_GL``, the name of the library.

OSMesa is preferred because it draws the same on every machine.
"""
_ADVICE = "apt install libosmesa6"


class NoPictureError(Exception):
    """This machine cannot draw; ``str(error)`` says why."""


def mujoco() -> Any:
    """Return the module of MuJoCo.

    If ``MUJOCO_GL`` is not set, set the variable, because MuJoCo reads it at import time.

    Raises:
        SetupError: MuJoCo is not installed, or MuJoCo does not know the value of ``MUJOCO_GL``.
    """
    if not os.environ.get("MUJOCO_GL"):
        loadable = (backend for backend, library in _LIBRARIES.items() if _can_load(library))
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
    """An OpenGL context in memory, made with the library that ``MUJOCO_GL`` names.

    The context is current in the ``with`` block and released after the block, so that any thread may draw, one thread
    at a time.

    Raises:
        NoPictureError: no context can be made on this machine.
    """

    def __init__(self) -> None:
        backend = os.environ.get("MUJOCO_GL", "").lower()
        if backend not in _LIBRARIES:
            raise NoPictureError(
                f"no way to draw without a screen (MUJOCO_GL={backend}): {_ADVICE}, with MUJOCO_GL unset"
            )
        try:
            # Not mujoco.GLContext: if other code imported MuJoCo first, mujoco.GLContext may need a screen.
            self._backend = import_module(f"mujoco.{backend}")
            self._context: Any = self._backend.GLContext(16, 16)
            with self:  # try whether the context can be made current
                pass
        except Exception as error:  # each backend raises its own types; a robot without a camera still drives
            reason = type(error).__name__
            raise NoPictureError(f"{backend} failed ({reason}): {_ADVICE}, with MUJOCO_GL unset") from error

    def __enter__(self) -> None:
        self._context.make_current()

    def __exit__(self, *_: object) -> None:
        egl = getattr(self._backend, "EGL", None)
        if egl is not None:  # a context of OSMesa need not be released
            display = self._backend.EGL_DISPLAY
            nowhere = egl.EGL_NO_SURFACE
            egl.eglMakeCurrent(display, nowhere, nowhere, egl.EGL_NO_CONTEXT)

    def close(self) -> None:
        self._context.free()


def _can_load(library: str) -> bool:
    """Return whether the system has this shared library and can load it."""
    path = find_library(library)
    if path is None:
        return False
    try:
        CDLL(path)
    except OSError:
        return False
    return True
