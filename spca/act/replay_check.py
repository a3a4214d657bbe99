"""Check whether a world can go back: by its seed and primitives, in any process, or by a copy of its state.

A simulator that keeps its objects in a set, for example, may replay exactly in one process and differ in the next.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import json
import logging
import os
import random
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from spca.common.plugins.plugin_records import PluginRecord
from spca.common.text import one_line
from spca.contracts import LevelSpec
from spca.errors import WorldError
from spca.plugins.loaded import loaded_plugins
from spca.plugins.named import load_same_plugins

_LOG: Final = logging.getLogger(__name__)

_STEPS: Final = 30
_STEPS_BEFORE_COPY: Final = 5
_STEPS_AFTER_COPY: Final = 10  # fewer than the snapshots that are kept
_SEED: Final = 0
_CHILD_SECONDS: Final = 120
_CHILD: Final = "from spca.act.replay_check import main; main()"


ReplayedClass: TypeAlias = type[Any]
"""A class of worlds, such as a subclass of :class:`spca.act.gymnasium_world.GymnasiumWorld`."""


def find_replay_fault(world_class: ReplayedClass, level: LevelSpec) -> str:
    """Return why the checkpoints of a level cannot be replayed; "" if they can.

    :data:`_STEPS` random primitives are played in two episodes of one world, and in a fresh process. The result is
    remembered for each class and level.
    """
    return _check_once(_check_replay, world_class, level)


def find_copy_fault(world_class: ReplayedClass, level: LevelSpec) -> str:
    """Return why a level cannot go back to a copy of its state; "" if it can.

    Random primitives are played after a checkpoint, and again after its copy was loaded. The result is remembered.
    """
    return _check_once(_check_copy, world_class, level)


def _check_once(check: Callable[[Any, LevelSpec], str], world_class: ReplayedClass, level: LevelSpec) -> str:
    checked_class: Any = world_class
    return _remember_check(check, checked_class, level.id, json.dumps([dict(level.kwargs), level.mission]))


@cache
def _remember_check(check: Callable[[Any, LevelSpec], str], world_class: Any, level_id: str, extras: str) -> str:
    kwargs, mission = json.loads(extras)
    level = LevelSpec(level_id, kwargs, mission)
    fault = check(world_class, level)
    _LOG.info("%s: %s finds %s", level.name, check.__name__.strip("_"), fault or "no fault")
    return fault


def _check_replay(world_class: ReplayedClass, level: LevelSpec) -> str:
    first, second = _play_two_episodes(world_class, level)
    if first != second:
        return "the same seed and primitives led to different states"
    try:
        other = _play_in_fresh_process(world_class, level)
    except _FreshProcessError as error:
        return f"it cannot be built in another process: {error}"
    return "" if other == first else "the same seed and primitives led to different states in another process"


def _check_copy(world_class: ReplayedClass, level: LevelSpec) -> str:
    with closing(world_class.make(level, _SEED, None)) as world:
        _play(world, _STEPS_BEFORE_COPY)
        made = world.checkpoint()
        first = _play(world, _STEPS_AFTER_COPY)
        if not world._load_snapshot(made):
            return "its state cannot be copied"
        second = _play(world, _STEPS_AFTER_COPY)
    return "" if first == second else "a copy of its state led to other states"


def _play_two_episodes(world_class: ReplayedClass, level: LevelSpec) -> tuple[str, str]:
    """Return a hash of the states that random primitives lead to, in two episodes of one world."""
    with closing(world_class.make(level, _SEED, None)) as world:
        first = _play(world, _STEPS)
        world._reset()
        return first, _play(world, _STEPS)


def _play(world: Any, steps: int) -> str:
    """Return a hash of the states that random primitives lead to; an error of the environment is a state, too."""
    chooser = random.Random(_SEED)  # noqa: S311 - no secret
    states = hashlib.sha256(world.checkpoint().state_hash.encode())
    for _ in range(steps):
        if world.over:
            break
        try:
            world.step(chooser.randrange(len(world.body.primitives)))
        except WorldError as error:  # a primitive may be forbidden here
            states.update(str(error).encode())
            break
        states.update(world.checkpoint().state_hash.encode())
    return states.hexdigest()


class _FreshProcessError(Exception):
    """The fresh process failed; the message is the last line that it has written."""


def _play_in_fresh_process(world_class: ReplayedClass, level: LevelSpec) -> str:
    """Return the hash of an episode from a new process with another hash seed.

    Raises:
        _FreshProcessError: the process failed.
    """
    module = sys.modules[world_class.__module__]
    env_module, _, _ = level.id.rpartition(":")
    request = {
        "env_module": env_module if env_module in sys.modules else "",
        "path": sys.path,
        "plugins": [plugin.to_dict() for plugin in loaded_plugins()],
        "module": world_class.__module__,
        "file": getattr(module, "__file__", None),
        "class": world_class.__qualname__,
        "level": [level.id, dict(level.kwargs), level.mission],
    }
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    try:
        done = subprocess.run(
            [sys.executable, "-c", _CHILD],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            timeout=_CHILD_SECONDS,
            env={**environment, "PYTHONPATH": str(Path(__file__).parents[2])},
            check=False,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _FreshProcessError(type(error).__name__) from error
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise _FreshProcessError(one_line(lines[-1]))
    return done.stdout.splitlines()[-1]


def main() -> None:
    """Read a request from standard input, play, and print the hash as the last line."""
    request = json.loads(sys.stdin.read())
    sys.path[:] = request["path"]
    load_same_plugins([PluginRecord(**{**plugin, "words": tuple(plugin["words"])}) for plugin in request["plugins"]])
    if request["env_module"]:  # it registers the environment, and this process's parent has imported it
        importlib.import_module(request["env_module"])
    module = _load_module(request["module"], request["file"])
    world_class: Any = module
    for name in request["class"].split("."):
        world_class = getattr(world_class, name)
    level_id, kwargs, mission = request["level"]
    first, _second = _play_two_episodes(world_class, LevelSpec(level_id, kwargs, mission))
    print(first)


def _load_module(name: str, file: str | None) -> Any:
    """Return the module ``name``; load it from ``file`` if it cannot be imported by its name."""
    try:
        return importlib.import_module(name)
    except ImportError:
        if file is None:
            raise
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise ImportError(f"{file} is no Python module")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
