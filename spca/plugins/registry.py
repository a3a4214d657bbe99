"""The registry of plugins: worlds, kinds of objects, colours, providers, planning engines and policies of others.

A plugin is a module with a function ``register(registry)``. The host imports plugins, and so do the workers of an
evaluation, Ray's actors and the solver's process. The sandbox never does. The registry is one for each process: what is
registered stays until the process ends.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Final, TypeAlias

from spca.bodies.grid.body import GRID
from spca.body import Body
from spca.common.errors import PluginError, SettingsError
from spca.common.names import find_nearest
from spca.common.plugins.plugin_records import PLUGINS, PluginRecord
from spca.common.plugins.sources import FLAG, PluginSource
from spca.common.text import one_line
from spca.contracts import LevelSpec
from spca.llm.catalogue.catalogue import add_provider
from spca.llm.providers.base import Provider, Target
from spca.plan.engines import add_engine
from spca.plugins.loaded import FLAGGED, LOADED, OWN_PACKAGES, require_plugins
from spca.protocols import Executor, PluginWorld, Policy
from spca.sense import added_words, perception

MINIGRID: Final = "minigrid"
"""Name of the built-in world, which is the default."""
BUILT_IN: Final = "built in"
_NAME: Final = re.compile(r"[a-z][a-z0-9_-]{0,39}")


WorldFactory: TypeAlias = Callable[[LevelSpec, int, Executor], PluginWorld]
"""Builds the world of a level and a seed; the executor runs generated code."""
PolicyFactory: TypeAlias = Callable[[], Policy]
"""Makes a new policy."""
ProviderFactory: TypeAlias = Callable[[Target], Provider]
"""Makes the provider of a model; raises :class:`spca.errors.ProviderConfigError` if the model cannot be used."""


@dataclass(frozen=True, slots=True)
class RegisteredWorld:
    """A world of a plugin; ``origin`` names the plugin."""

    name: str
    body: Body
    make: WorldFactory
    origin: str


@dataclass(frozen=True, slots=True)
class Registration:
    """A line of ``main.py worlds``.

    Attributes:
        kind: world, object kind, colour, provider, engine or policy.
        name: the registered name.
        origin: the plugin that has registered the name.
        details: further arguments of the registration, in words.
    """

    kind: str
    name: str
    origin: str
    details: str = ""


@dataclass(slots=True)
class _Registered:
    """All that the plugins of this process have registered."""

    registrations: list[Registration] = field(default_factory=list)
    worlds: dict[str, RegisteredWorld] = field(default_factory=dict)
    policies: dict[str, PolicyFactory] = field(default_factory=dict)


_REGISTERED: Final = _Registered()


class Registry:
    """Takes what a plugin registers. Each method raises ValueError if a name is taken or has a wrong form.

    Args:
        source: the plugin.
    """

    def __init__(self, source: PluginSource) -> None:
        self._source = source

    def world(self, name: str, body: Body, make: WorldFactory) -> None:
        """Register a world, which ``--world NAME`` chooses.

        Args:
            name: small letters, digits, ``_`` and ``-``; begins with a letter.
            body: what generated code and prompts know of the world; it is read when a run begins.
            make: builds the world of a level and a seed. It is called in the host and in workers.
        """
        self._add("world", name, f"body {body.name}")
        _REGISTERED.worlds[name] = RegisteredWorld(name, body, make, self._source.module)

    def provider(self, prefix: str, make: ProviderFactory, *, is_free: bool = False) -> None:
        """Register a prefix of models: ``PREFIX/NAME`` is asked at the provider that ``make`` returns.

        The name works wherever a model's name does. Calls pass ledger, caps, transcripts and replay like all others.
        The price of such a model is unknown unless the models are free or the user's model table has it.

        Args:
            prefix: small letters, digits, ``_`` and ``-``; begins with a letter.
            make: is called with the model and its server for each use of a model.
            is_free: whether the models cost nothing, such as scripts and models on this machine.
        """
        self._add("provider", prefix, "free" if is_free else "")
        add_provider(prefix, make, is_free=is_free)

    def engine(self, name: str, unified_planning_name: str) -> None:
        """Register a planning engine, which ``--engine NAME`` chooses; it is never chosen by itself.

        The engine runs in the solver's process. This process imports the plugin, but does not call ``register``.

        Args:
            name: small letters, digits, ``_`` and ``-``; begins with a letter.
            unified_planning_name: a name that Unified Planning's factory knows, or ``module:Class`` of an engine class.
        """
        self._add("engine", name, unified_planning_name)
        add_engine(name, unified_planning_name, self._source)

    def policy(self, name: str, make: PolicyFactory) -> None:
        """Register a policy, which acts without the loop; see :class:`spca.protocols.Policy`.

        Args:
            name: small letters, digits, ``_`` and ``-``; begins with a letter.
            make: makes a new policy.
        """
        self._add("policy", name)
        _REGISTERED.policies[name] = make

    def object_kind(self, name: str, symbol: str, carry: bool = False, blocks: bool = True) -> None:
        """Register a kind of objects of the minigrid world; see :func:`spca.sense.added_words.add_object_kind`.

        The kind needs a number in ``minigrid.core.constants.OBJECT_TO_IDX``, which the environment's module assigns.

        Args:
            name: the ``type`` of the objects, 2 to 20 small letters.
            symbol: one printable ASCII character, for drawn maps.
            carry: whether the agent can carry such an object.
            blocks: whether such an object bars the agent's way.
        """
        added_words.add_object_kind(name, symbol, carry=carry, blocks=blocks)
        abilities = [
            f"symbol {symbol}",
            *(["can be carried"] if carry else []),
            *([] if blocks else ["can be entered"]),
        ]
        self._note("object kind", name, ", ".join(abilities))

    def colour(self, name: str) -> None:
        """Register a colour of the minigrid world; see :func:`spca.sense.added_words.add_colour`.

        The colour needs entries in ``COLORS`` and ``COLOR_TO_IDX`` of ``minigrid.core.constants``, which the
        environment's module makes.

        Args:
            name: 2 to 20 small letters.
        """
        added_words.add_colour(name)
        self._note("colour", name)

    def _add(self, kind: str, name: str, details: str = "") -> None:
        """Note a registration; raise ValueError if the name has a wrong form or was registered before."""
        if not _NAME.fullmatch(name):
            raise ValueError(f"{kind} {name!r}: a name has small letters, digits, _ and -, and begins with a letter")
        if kind == "world" and name == MINIGRID:
            raise ValueError(f"world {name!r} is built in: choose another name")
        for earlier in _REGISTERED.registrations:
            if (earlier.kind, earlier.name) == (kind, name):
                raise ValueError(f"{kind} {name!r} was registered by {earlier.origin}: choose another name")
        self._note(kind, name, details)

    def _note(self, kind: str, name: str, details: str = "") -> None:
        _REGISTERED.registrations.append(Registration(kind, name, self._source.module, details))


# Loading -------------------------------------------------------------------------------------------------------------


def load_plugins(sources: Iterable[PluginSource]) -> None:
    """Import plugins and let them register; a plugin that is loaded already is left alone.

    Raises:
        PluginError: a plugin is missing, raises an error, has no ``register``, or registers a name that is taken.
    """
    for source in sources:
        if source.module not in _list_loaded():
            _load_plugin(source)


def load_recorded_plugins(records: Sequence[PluginRecord]) -> None:
    """Load, in a worker, the plugins that the main process has recorded.

    Raises:
        PluginError: see :func:`load_plugins`; or the source of a plugin differs on this machine.
    """
    sources = [PluginSource(record.given, record.name, "the plugin") for record in records]
    load_plugins(sources)
    recorded = {PLUGINS: [record.to_dict() for record in records]}
    require_plugins(recorded, "the main process")


def load_environment_module(module: str, env_id: str) -> None:
    """Import a module that registers environments, and record it like a plugin; it needs no ``register``.

    Args:
        env_id: the id ``module:Id-v0`` that names the module, for messages.

    Raises:
        PluginError: the module is missing or raises an error.
    """
    source = PluginSource.parse(module, f"{env_id}:")
    _record_plugin(source, source.import_plugin(), len(perception.VOCABULARY))
    FLAGGED.append(module)  # a command that goes on with a run folder does not import what the folder names


def _list_loaded() -> set[str]:
    return {record.name for record in LOADED}


def _load_plugin(source: PluginSource) -> None:
    """Import a plugin, let it register, and record it."""
    environments = _list_environments()
    module = source.import_plugin()
    register = getattr(module, "register", None)
    registers_environments = bool(_list_environments() - environments) or _has_environment(source.module)
    if not callable(register) and not registers_environments:
        raise PluginError(f"{source.named_by} {source.given}: it has no function register(registry): write one")
    first_code = len(perception.VOCABULARY)
    if callable(register):
        try:
            register(Registry(source))
        except ValueError as error:
            raise PluginError(f"{source.named_by} {source.given}: {one_line(str(error))}") from error
        except (Exception, SystemExit) as error:  # boundary: a plugin may raise anything
            raise source.make_error("fails to register", error) from error
    _record_plugin(source, module, first_code)


def _record_plugin(source: PluginSource, module: ModuleType, first_code: int) -> None:
    """Record a plugin that has registered.

    Args:
        first_code: size of the vocabulary before the plugin.
    """
    words = tuple(perception.VOCABULARY[first_code:])
    version = source.find_version(module)
    sha256 = source.hash_source(module)
    record = PluginRecord(source.module, source.given, version, sha256, words, first_code if words else 0)
    LOADED.append(record)
    if source.named_by == FLAG:
        FLAGGED.append(source.given)


def _list_environments() -> frozenset[str]:
    """Return the ids in Gymnasium's registry, without those that it and minigrid register by the path of a class."""
    gymnasium = sys.modules.get("gymnasium")
    specs: Mapping[str, Any] = gymnasium.registry if gymnasium else {}
    own = tuple(f"{package}." for package in OWN_PACKAGES)
    return frozenset(name for name, spec in specs.items() if not str(spec.entry_point).startswith(own))


def _has_environment(module: str) -> bool:
    """Return whether Gymnasium knows an environment whose class lies in the module or in its package."""
    gymnasium = sys.modules.get("gymnasium")
    specs: Mapping[str, Any] = gymnasium.registry if gymnasium else {}
    package = module.partition(".")[0]
    for spec in specs.values():
        entry_point = spec.entry_point
        place = entry_point if isinstance(entry_point, str) else getattr(entry_point, "__module__", "")
        if re.split("[.:]", place, maxsplit=1)[0] == package:
            return True
    return False


# What is registered --------------------------------------------------------------------------------------------------


def list_registrations() -> tuple[Registration, ...]:
    """Return the built-in world and all that plugins have registered, in order."""
    return Registration("world", MINIGRID, BUILT_IN, "default"), *_REGISTERED.registrations


def find_world(name: str) -> RegisteredWorld | None:
    """Return the registered world of this name; None for the built-in world.

    Raises:
        SettingsError: no world has this name; the message suggests the nearest one.
    """
    if name == MINIGRID:
        return None
    if name in _REGISTERED.worlds:
        return _REGISTERED.worlds[name]
    known = (MINIGRID, *_REGISTERED.worlds)
    near = find_nearest(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}"
    raise SettingsError(f"--world {one_line(name)}: there is no such world; {hint} (--plugin adds worlds)")


def find_policy(name: str) -> PolicyFactory:
    """Return the factory of the registered policy of this name.

    Raises:
        SettingsError: no policy has this name.
    """
    if name not in _REGISTERED.policies:
        known = ", ".join(_REGISTERED.policies) or "none"
        raise SettingsError(f"there is no policy {one_line(name)!r}: registered are {known} (--plugin adds policies)")
    return _REGISTERED.policies[name]


def find_body(world: str) -> Body:
    """Return the body of the agent in a world.

    Raises:
        SettingsError: no world has this name.
    """
    registered = find_world(world or MINIGRID)
    return registered.body if registered else GRID
