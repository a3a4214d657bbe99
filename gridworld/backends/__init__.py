"""Backends: environments in which tasks are played.

Classes are imported on first use, so that importing this package does not import MiniGrid.
"""

from __future__ import annotations

from importlib import import_module
from inspect import signature
from typing import TYPE_CHECKING, Any, Final

from gridworld.errors import BackendError

if TYPE_CHECKING:
    from gridworld.backends.base import AbstractGridBackend, GridState
    from gridworld.backends.minigrid_backend import MiniGridBackend
    from gridworld.backends.multigrid_backend import MultiGridBackend

__all__ = ["BACKENDS", "AbstractGridBackend", "GridState", "MiniGridBackend", "MultiGridBackend", "get_backend"]

BACKENDS: Final[dict[str, str]] = {"minigrid": "MiniGridBackend", "multigrid": "MultiGridBackend"}
"""Maps each value of ``--backend`` to the name of a class in this package."""

# The module that defines each name of this package.
_MODULES: Final = {
    "AbstractGridBackend": "gridworld.backends.base",
    "GridState": "gridworld.backends.base",
    "MiniGridBackend": "gridworld.backends.minigrid_backend",
    "MultiGridBackend": "gridworld.backends.multigrid_backend",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})


def get_backend(name: str, **options: Any) -> AbstractGridBackend:
    """Return a new backend of the class that a name stands for.

    Args:
        name: a key of :data:`BACKENDS`.
        options: arguments of the class, such as ``render_mode=None`` or ``tiling="hex"``.

    Raises:
        BackendError: the name is unknown, or the class does not take these options.
    """
    if name not in BACKENDS:
        raise BackendError(f"unknown backend {name!r:.80}; there are {', '.join(BACKENDS)}")
    backend: type[AbstractGridBackend] = __getattr__(BACKENDS[name])
    try:
        signature(backend).bind(**options)
    except TypeError as error:
        raise BackendError(f"backend {name}: {error}") from error
    return backend(**options)
