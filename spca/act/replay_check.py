"""Check whether a world can be replayed: the same seed and primitives must lead to the same states in any process.

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
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from spca.contracts import LevelSpec

_LOG: Final = logging.getLogger(__name__)

_STEPS: Final = 30
_SEED: Final = 0
_CHILD_SECONDS: Final = 120
_CHILD: Final = "from spca.act.replay_check import main; main()"


ReplayedClass: TypeAlias = type[Any]
"""A class of worlds, such as a subclass of :class:`spca.act.gymnasium_world.GymnasiumWorld`."""


def can_replay(world_class: ReplayedClass, level: LevelSpec) -> bool:
    """Return whether :data:`_STEPS` random primitives lead to the same states twice here, and in a fresh process.

    The result is remembered for each class and level.
    """
    checked_class: Any = world_class
    return _check_replay(checked_class, level.id, json.dumps([dict(level.kwargs), level.mission]))


@cache
def _check_replay(world_class: Any, level_id: str, extras: str) -> bool:
    kwargs, mission = json.loads(extras)
    level = LevelSpec(level_id, kwargs, mission)
    first = _play_randomly(world_class, level)
    if _play_randomly(world_class, level) != first:
        _LOG.info("%s: a second replay in the same process differs", level.name)
        return False
    is_equal = _play_in_fresh_process(world_class, level) == first
    _LOG.info("%s: a replay in a fresh process %s", level.name, "is equal" if is_equal else "differs")
    return is_equal


def _play_randomly(world_class: ReplayedClass, level: LevelSpec) -> str:
    """Return a hash of the states that random primitives lead to."""
    chooser = random.Random(_SEED)  # noqa: S311 - no secret
    states = hashlib.sha256()
    with closing(world_class(level, _SEED, None)) as world:
        states.update(world.checkpoint().state_hash.encode())
        for _ in range(_STEPS):
            if world.over:
                break
            world.step(chooser.randrange(len(world.body.primitives)))
            states.update(world.checkpoint().state_hash.encode())
    return states.hexdigest()


def _play_in_fresh_process(world_class: ReplayedClass, level: LevelSpec) -> str:
    """Return the hash of :func:`_play_randomly` from a new process with another hash seed; "" if the process fails."""
    module = sys.modules[world_class.__module__]
    env_module, _, _ = level.id.rpartition(":")
    request = {
        "env_module": env_module if env_module in sys.modules else "",
        "path": sys.path,
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
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        _LOG.info("the fresh process failed: %s", error)
        return ""
    return done.stdout.rpartition("\n")[2] or done.stdout.splitlines()[-1]


def main() -> None:
    """Read a request from standard input, play, and print the hash as the last line."""
    request = json.loads(sys.stdin.read())
    sys.path[:] = request["path"]
    if request["env_module"]:  # it registers the environment, and this process's parent has imported it
        importlib.import_module(request["env_module"])
    module = _load_module(request["module"], request["file"])
    world_class: Any = module
    for name in request["class"].split("."):
        world_class = getattr(world_class, name)
    level_id, kwargs, mission = request["level"]
    print(_play_randomly(world_class, LevelSpec(level_id, kwargs, mission)))


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
