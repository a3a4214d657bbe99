"""Results files: one line of JSON per episode of an agent or a person."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeVar

from explorer.codes import packed, unpacked
from explorer.errors import EpisodeError
from spca.common.encoding import json_text
from spca.common.errors import FileError, SettingsError
from spca.common.files import MAX_RUN_FILE_BYTES, read_bytes, replace_file, whole_lines, write_line

MAX_HOPS: Final = 1000
"""Largest number of milestones of a scene in results."""
_MAX_NUMBER: Final = 10**15
"""Largest number that is accepted in results."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Episode:
    """The result of playing a scene.

    Attributes:
        scene: name of the scene.
        hops: number of milestones of the scene, the goal included.
        model: name of the player.
        latched: milestone id -> the first step after which the milestone held.
        solved: whether every milestone latched.
        steps: number of steps of all lives together.
        restores: how often the player went back to an earlier state, which begins another life.
        calls, tokens, cost: number of model calls, number of tokens, and cost in USD.
        codes: codes of the primitives of the last life, in order.
        out_of_order: edges (before, after) of the graph of which ``after`` latched although ``before`` latched later or
            never.
        certificate_refuted: whether the episode contradicts the certificate of the scene: the goal latched without a
            necessary hop, or two hops latched in an order that is proven impossible.
        state_hash: hash of the last state, which verifies a replay; "" if nothing was played.
        ended: "goal", "done", "lava" or "max_steps"; "" if the agent failed.
        error: how the agent failed, or "" if the agent did not fail.
        seed: seed of the agent.
        source: path of the scene, or "" for a scene that was made in memory.
    """

    scene: str
    hops: int
    model: str
    latched: Mapping[str, int] = field(default_factory=dict)
    solved: bool = False
    steps: int = 0
    restores: int = 0
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    codes: tuple[int, ...] = ()
    out_of_order: tuple[tuple[str, str], ...] = ()
    certificate_refuted: bool = False
    state_hash: str = ""
    ended: str = ""
    error: str = ""
    seed: int = 0
    source: str = ""

    @property
    def task_id(self) -> str:
        """Name of the scene, which identifies the task of the episode."""
        return self.scene

    def to_dict(self) -> dict[str, Any]:
        """Return the episode as a JSON-compatible line of results."""
        data = {name: getattr(self, name) for name in self.__slots__}
        return {**data, "codes": packed(self.codes)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Episode:
        """Return the episode that a line of results describes; invert :meth:`to_dict`. Unknown fields are ignored.

        Raises:
            KeyError, TypeError, ValueError: the data does not come from :meth:`to_dict`.
        """
        latched: dict[str, int] = {}
        for name, step in dict(data["latched"]).items():
            latched[str(name)] = _require_whole(step, "a step of latched")
        fields: dict[str, Any] = {}
        for name in ("scene", "model", "state_hash"):
            fields[name] = _require_type(str, data[name], name)
        for name in ("ended", "error", "source"):
            fields[name] = _require_type(str, data.get(name, ""), name)
        for name in ("hops", "steps", "restores", "calls", "tokens"):
            fields[name] = _require_whole(data[name], name)
        for name in ("solved", "certificate_refuted"):
            fields[name] = _require_type(bool, data[name], name)
        fields["seed"] = _require_whole(data.get("seed", 0), "seed")
        fields["latched"] = latched
        fields["cost"] = float(data["cost"])
        fields["codes"] = unpacked(_require_type(str, data["codes"], "codes"))
        fields["out_of_order"] = tuple((str(before), str(after)) for before, after in data["out_of_order"])
        if not 0 <= fields["cost"] <= _MAX_NUMBER:
            raise ValueError(f"cost is {fields['cost']}, not an amount of USD")

        hops = fields["hops"]
        counts_fit = len(latched) <= hops <= MAX_HOPS
        all_latched = hops > 0 and len(latched) == hops
        if not counts_fit or fields["solved"] is not all_latched:
            raise ValueError(f"solved is {fields['solved']} with {len(latched)} of {hops} hops latched")
        return cls(**fields)


def _require_type(kind: type[T], value: Any, name: str) -> T:
    """Return the value of a field, or raise TypeError if the type of the value is not ``kind``."""
    if not isinstance(value, kind):
        expected = "text" if kind is str else "yes or no"
        raise TypeError(f"{name} is {value!a:.40}, not a {expected}")
    return value


def _require_whole(value: Any, name: str) -> int:
    """Return the value of a field, or raise ValueError if it is not a whole number from 0 to :data:`_MAX_NUMBER`."""
    if type(value) is not int or not 0 <= value <= _MAX_NUMBER:  # bool is a subclass of int
        raise ValueError(f"{name} is {value!a:.40}, not a whole number from 0 to {_MAX_NUMBER}")
    return value


def read_episodes(path: Path) -> list[Episode]:
    """Return the episodes of a results file; ignore an incomplete last line.

    Raises:
        EpisodeError: the file cannot be read, or a line is not an episode. The error names file, line and field.
    """
    try:
        *lines, last = read_bytes(path, MAX_RUN_FILE_BYTES).split(b"\n")
    except FileError as error:
        raise EpisodeError(str(error)) from error
    with suppress(ValueError, RecursionError):
        json.loads(last)  # raises ValueError if the line is incomplete
        lines.append(last)
    episodes = []
    for number, line in enumerate(lines, start=1):
        if line.strip():
            episodes.append(_read_episode(line, f"{path}: line {number}"))
    return episodes


def _read_episode(line: bytes, where: str) -> Episode:
    """Return the episode of a line; ``where`` begins the message of an error."""
    try:
        data = json.loads(line)
        if not isinstance(data, dict):
            raise TypeError("it is not an object")
        return Episode.from_dict(data)
    except KeyError as error:
        raise EpisodeError(f"{where}: {error.args[0]} is missing: these are not results of the explorer") from error
    except (TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        raise EpisodeError(f"{where}: {error!s:.200}: restore the line, or remove it") from error


def append_episode(path: Path, episode: Episode) -> None:
    """Append an episode to a results file; create the file and its folder if needed.

    Raises:
        EpisodeError: the episode cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        whole_lines(path)  # cuts off an incomplete last line
        write_line(path, json_text(episode.to_dict()))
    except (FileError, SettingsError, OSError) as error:
        raise EpisodeError(f"{path}: the episode cannot be written: {error}") from error


def write_episodes(path: Path, episodes: Iterable[Episode]) -> None:
    """Write a results file atomically.

    Raises:
        EpisodeError: the file cannot be written.
    """
    lines = "".join(f"{json_text(episode.to_dict())}\n" for episode in episodes)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, lines.encode())
    except OSError as error:
        raise EpisodeError(f"{os.fspath(path)}: cannot be written: {error.strerror or error}") from error
