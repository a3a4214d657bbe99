"""A stand-in for the library ConfigSpace, whose import takes most of the import time of Unified Planning.

Unified Planning and its engines import only one class of ConfigSpace. They use it in the signatures of methods that
describe an engine's parameters. ConfigSpace is slow to import because it imports scipy.stats. The first use of the
stand-in imports the library itself. Before this use, submodules of ConfigSpace cannot be imported.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Final

_NAME: Final = "ConfigSpace"


class ConfigurationSpace:
    """A placeholder for the library's class of the same name; a call returns an object of the library's class."""

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return load().ConfigurationSpace(*args, **options)


class _StandIn(ModuleType):
    """The module that stands for ConfigSpace in ``sys.modules``, until any other name of the library is used."""

    ConfigurationSpace = ConfigurationSpace

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # tools that inspect all modules ask for such names
            raise AttributeError(name)
        return getattr(load(), name)


def defer() -> None:
    """Install the stand-in for ConfigSpace, unless ConfigSpace was already imported."""
    sys.modules.setdefault(_NAME, _StandIn(_NAME))


def load() -> ModuleType:
    """Return the library itself; import the library on the first call."""
    if isinstance(sys.modules.get(_NAME), _StandIn):
        del sys.modules[_NAME]
    return importlib.import_module(_NAME)
