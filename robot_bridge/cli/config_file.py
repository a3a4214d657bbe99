"""A YAML file with what differs from the default robot."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from robot_bridge.config import RobotConfig
from robot_bridge.errors import SetupError
from robot_bridge.ros.topics import Topics
from robot_bridge.safety.config_check import checked
from spca.common.errors import FileError
from spca.common.files import read_text


def read(path: Path | None) -> tuple[RobotConfig, Topics]:
    """The robot that a file describes and, under ``topics``, where it publishes; without a file the default one.

    Raises:
        SetupError: the file cannot be read, or holds what no robot has.
    """
    given = _yaml(path) if path else None
    if path is None or given is None:
        return RobotConfig(), Topics()
    if not isinstance(given, dict):
        raise SetupError(f"{path}: the file must hold names and values")
    topics = _merged(Topics(), given.pop("topics", {}), path, "topics")
    try:
        return checked(_merged(RobotConfig(), given, path, "")), topics
    except SetupError as error:
        raise error if str(error).startswith(str(path)) else SetupError(f"{path}: {error}") from error


def _yaml(path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(read_text(path))
    except FileError as error:
        raise SetupError(str(error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SetupError(f"{path} is not YAML: {' '.join(str(error).split())}") from error


def _merged(default: Any, given: object, path: Path, where: str) -> Any:
    """``default`` with the values that a mapping gives."""
    if not isinstance(given, dict):
        raise SetupError(f"{path}: {where or 'the file'} must hold names and values")
    known = {each.name: getattr(default, each.name) for each in fields(default)}
    changed: dict[str, Any] = {}
    for name, value in given.items():
        place = f"{where}.{name}" if where else str(name)
        if name not in known:
            raise SetupError(f"{path}: there is no {place!r}: known are {', '.join(known)}")
        old = known[name]
        changed[name] = _value(old, value, path, place)
    return replace(default, **changed)


def _value(old: Any, value: object, path: Path, place: str) -> Any:
    if is_dataclass(old):
        return _merged(old, value, path, place)
    if not isinstance(old, str):
        return _number(old, value, path, place)
    if not isinstance(value, str) or not value.startswith("/"):
        raise SetupError(f"{path}: {place} must be the name of a topic, such as {old}, not {value!r}")
    return value


def _number(old: float, value: object, path: Path, place: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise SetupError(f"{path}: {place} must be a number, not {value!r}")
    if isinstance(old, int) and not isinstance(value, int):
        raise SetupError(f"{path}: {place} must be a whole number, not {value!r}")
    if old > 0 and value <= 0:
        raise SetupError(f"{path}: {place} must be above 0, not {value!r}")
    return value
