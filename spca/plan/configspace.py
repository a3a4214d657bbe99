"""A stand-in for ConfigSpace, which takes most of the time that Unified Planning needs to be imported.

Unified Planning and its engines import one class from it, for the signatures of methods that describe the parameters of
an engine. ConfigSpace brings scipy.stats with it. Whoever uses the stand-in gets the library itself; only a submodule
cannot be imported before that.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Final

_NAME: Final = "ConfigSpace"


class ConfigurationSpace:
    """Only a name until it is called; then an object of the library's class is made."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return load().ConfigurationSpace(*args, **options)


class _StandIn(ModuleType):
    """The module in ``sys.modules`` until any other of its names is used."""

    ConfigurationSpace = ConfigurationSpace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # asked of every module by what looks through all of them
            raise AttributeError(name)
        return getattr(load(), name)


def defer() -> None:
    """Put off importing ConfigSpace until something uses it; nothing happens when it has been imported."""
    sys.modules.setdefault(_NAME, _StandIn(_NAME))


def load() -> ModuleType:
    """Return the library itself, imported when that has not happened yet."""
    if isinstance(sys.modules.get(_NAME), _StandIn):
        del sys.modules[_NAME]
    return importlib.import_module(_NAME)
