"""Modules and names that generated code may use, with advice for forbidden ones (data and lookups)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Final


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


MODULES: Final = _words(
    """
    numpy numpy.char numpy.strings numpy.random numpy.linalg numpy.fft numpy.ma numpy.typing numpy.exceptions
    numpy.dtypes numpy.lib numpy.lib.stride_tricks numpy.polynomial abc bisect collections collections.abc contextlib
    copy dataclasses enum functools heapq itertools math operator queue random re statistics string typing __future__
    """
)
"""Modules that may be imported; the sandbox loads them before it restricts itself.

Among all their members, only numpy's date ``now`` tells the time.
"""

_FILES: Final = "generated code has no files"
INSTEAD: Final[Mapping[str, str]] = {
    "os": "generated code has no files, processes or environment",
    "io": _FILES,
    "pathlib": _FILES,
    "subprocess": "generated code starts no processes",
    "threading": "write plain generators",
    "asyncio": "write plain generators",
    "sys": "for a largest number use math.inf",
    "time": "count steps instead: there is no clock",
    "datetime": "count steps instead: there is no clock",
    "logging": "use print",
    "json": "use repr, or keep values as they are",
    "pickle": "use copy.deepcopy",
    "inspect": "generated code does not inspect code",
    "types": "use typing",
    "warnings": "use print",
    "decimal": "use int or float",
    "fractions": "use int or float",
    "scipy": "use numpy",
    "pandas": "use numpy",
    "networkx": "write the search with collections.deque or heapq",
    "gymnasium": "act only by yielding primitives",
    "minigrid": "act only by yielding primitives",
}
"""Advice for modules that coders often request, by module."""

MEMBER_INSTEAD: Final[Mapping[str, str]] = {
    "numpy.bool8": "use numpy.bool_",
    "numpy.float": "use float",
    "numpy.int": "use int",
    "random.SystemRandom": "use random.Random(0): runs must be repeatable",
} | dict.fromkeys(
    (f"numpy.{name}" for name in _words("fromfile fromregex genfromtxt load loadtxt memmap save savetxt savez")), _FILES
)
"""Advice for members of modules that do not exist or are useless in the sandbox, by full name."""

REFUSED_BUILTINS: Final[Mapping[str, str]] = {
    "open": _FILES,
    "input": "nobody answers",
    "exec": "write the code itself",
    "eval": "write the expression itself, or use int() or float()",
    "compile": "write the code itself",
    "globals": "use constants above the methods, or attributes of self",
    "breakpoint": "there is no debugger",
    "help": "there is no terminal",
    "exit": "return from the method",
    "quit": "return from the method",
    "__import__": "write an import statement",
}
"""Advice for builtins that fail in the sandbox, or whose effect a reader of the source cannot see, by name."""

DECORATORS: Final = _words(
    """
    staticmethod classmethod property functools.cache functools.lru_cache functools.cached_property abc.abstractmethod
    typing.final typing.overload typing.override typing.no_type_check
    """
)
"""Full names of the allowed decorators of methods."""

CONSTANT_CALLS: Final = frozenset(
    _words(
        """
        int float complex bool str bytes tuple list set frozenset dict range slice len min max sum abs round sorted zip
        reversed enumerate collections.namedtuple collections.deque collections.defaultdict collections.Counter
        collections.OrderedDict numpy.array math.sqrt math.radians re.compile typing.TypeVar typing.NewType
        """
    )
)
"""Full names of the functions that a constant or default may call with constant arguments."""

SEEDED: Final = frozenset(
    _words(
        """
        random.Random random.seed numpy.random.default_rng numpy.random.seed numpy.random.RandomState
        numpy.random.SeedSequence numpy.random.MT19937 numpy.random.PCG64 numpy.random.PCG64DXSM numpy.random.Philox
        numpy.random.SFC64
        """
    )
)
"""Full names of functions that take a seed; if called without a seed, they use the machine's entropy."""

SEED_WORDS: Final = ("seed", "a", "x", "entropy", "key")
"""Names of the parameters that take a seed."""


def fault_of_module(name: str) -> str:
    """Return why a module must not be imported; "" if the import is allowed."""
    if name in MODULES:
        return ""
    root = name.partition(".")[0]
    roots = [module for module in MODULES if "." not in module and not module.startswith("_")]
    usual = ", ".join(sorted(roots))
    instead = f"use {root} itself" if root in MODULES else f"available are {usual}"
    return f"module {name} is not available: {INSTEAD.get(root, instead)}"


def fault_of_member(module: str, name: str) -> str:
    """Return why a member of an allowed module must not be used; "" if the use is allowed."""
    full = f"{module}.{name}"
    if full not in MEMBER_INSTEAD and (full in MODULES or name in _members(module)):
        return ""
    reason = MEMBER_INSTEAD.get(full, f"it is not among the public names of {module}")
    return f"{full} is not available: {reason}"


@lru_cache(maxsize=len(MODULES))
def _members(module: str) -> frozenset[str]:
    """Return the public names of an allowed module; omit the names of all submodules, even if they are not loaded."""
    loaded = import_module(module)
    submodules = (part.name for part in iter_modules(getattr(loaded, "__path__", ())))
    # Submodules that are not loaded get a placeholder value of type module, so that they are left out below.
    members = dict.fromkeys(submodules, loaded) | vars(loaded)
    public = members.get("__all__") or (name for name in members if not name.startswith("_"))
    return frozenset(name for name in public if not isinstance(members.get(name), ModuleType))
