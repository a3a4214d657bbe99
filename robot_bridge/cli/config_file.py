"""Read a YAML file with the values that differ from the default robot."""

from __future__ import annotations

import math
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from robot_bridge.config import RobotConfig
from robot_bridge.errors import SetupError
from robot_bridge.ros.topics import Topics
from robot_bridge.safety.config_check import require_valid
from spca.common.errors import FileError
from spca.common.files import read_text


def read(path: Path | None) -> tuple[RobotConfig, Topics]:
    """Return the robot's configuration and its topics, as given in a file; without a file, both are the defaults.

    Raises:
        SetupError: the file cannot be read, or holds an unknown name or an invalid value.
    """
    content = _read_yaml(path) if path else None
    if path is None or content is None:
        return RobotConfig(), Topics()
    if not isinstance(content, dict):
        raise SetupError(f"{path}: the file must hold names and values")
    topics = _override(Topics(), content.pop("topics", {}), path, "topics")
    try:
        return require_valid(_override(RobotConfig(), content, path, "")), topics
    except SetupError as error:
        if str(error).startswith(str(path)):
            raise
        raise SetupError(f"{path}: {error}") from error


def _read_yaml(path: Path) -> object:
    import yaml

    try:
        return yaml.safe_load(read_text(path))
    except FileError as error:
        raise SetupError(str(error)) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        reason = " ".join(str(error).split())
        raise SetupError(f"{path} is not YAML: {reason}") from error


def _override(default: Any, given: object, path: Path, where: str) -> Any:
    """Return a copy of the dataclass ``default`` in which the values of the mapping ``given`` replace the defaults.

    ``where`` is the dotted name of ``default`` in the file, "" for the top level.
    """
    if not isinstance(given, dict):
        raise SetupError(f"{path}: {where or 'the file'} must hold names and values")
    known = {field.name: getattr(default, field.name) for field in fields(default)}
    changed: dict[str, Any] = {}
    for name, value in given.items():
        place = f"{where}.{name}" if where else str(name)
        if name not in known:
            raise SetupError(f"{path}: there is no {place!r}: known are {', '.join(known)}")
        old = known[name]
        changed[name] = _check_value(old, value, path, place)
    return replace(default, **changed)


def _check_value(old: Any, value: object, path: Path, place: str) -> Any:
    """Check the new value of a field and return it; the field's default ``old`` determines which type is valid."""
    if is_dataclass(old):
        return _override(old, value, path, place)
    if not isinstance(old, str):
        return _check_number(old, value, path, place)
    if not isinstance(value, str) or not value.startswith("/"):
        raise SetupError(f"{path}: {place} must be the name of a topic, such as {old}, not {value!r}")
    return value


def _check_number(old: float, value: object, path: Path, place: str) -> float:
    """Check a number and return it.

    The number must be finite, whole if the default ``old`` is whole, and above 0 if ``old`` is above 0.
    """
    # In Python, bool is a subclass of int.
    is_bool = isinstance(value, bool)
    if is_bool or not isinstance(value, int | float) or not math.isfinite(value):
        raise SetupError(f"{path}: {place} must be a number, not {value!r}")
    if isinstance(old, int) and not isinstance(value, int):
        raise SetupError(f"{path}: {place} must be a whole number, not {value!r}")
    if old > 0 and value <= 0:
        raise SetupError(f"{path}: {place} must be above 0, not {value!r}")
    return value
