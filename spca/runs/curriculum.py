"""A curriculum file: load it, validate every entry, choose from it, and list what is to be run.

The file is a JSON list of categories ``{"category_name", "skill", "levels"}``; a level is ``{"name", "configs"}``, its
configs environment ids. Whether an id exists is for the simulator to say.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.names import find_nearest
from spca.contracts import LevelInfo
from spca.errors import CurriculumError, ResumeError
from spca.runs.recording.folder import CURRICULUM, Begun
from spca.runs.settings import Settings

_LOG: Final = logging.getLogger(__name__)
_CATEGORY_KEYS = ("category_name", "skill", "levels")
_LEVEL_KEYS = ("name", "configs")
_PATTERN = frozenset("*?[-")
"""Characters of globs and environment ids."""
_FEW = 12
"""Names that are listed in an error message when none of them is near."""
_MAX_QUOTE = 80
"""Characters of a value that an error message quotes."""
_MAX_NAME = 100
"""Bytes of a name: that of a category and an environment id stand in one file name, which has at most 255."""


@dataclass(frozen=True, slots=True)
class Level:
    """Environments that ask for the same thing; ``configs`` are their ids, at least one.

    Two levels of a category may have the same name.
    """

    name: str
    configs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """Levels that one skill solves, in the order of learning."""

    name: str
    skill: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One environment to solve; ``index`` counts from 0 in the order of the run."""

    index: int
    category: str
    skill: str
    level: str
    env_id: str

    def info(self) -> LevelInfo:
        """Return what the planner gets of it."""
        return LevelInfo(self.category, self.skill, self.level)

    def place(self, seed: int) -> dict[str, object]:
        """Return what events and summaries call the level."""
        return {"level_name": self.env_id, "lvl_group": self.level, "category": self.category, "seed": seed}


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Categories in the order of learning; ``source`` names where they came from in error messages."""

    source: str
    categories: tuple[Category, ...]

    def tasks(self) -> tuple[Task, ...]:
        """Return every environment in order; one that is listed again, here or in a later level, is run once."""
        first: dict[str, tuple[Category, Level]] = {}
        for category in self.categories:
            for level in category.levels:
                for env_id in level.configs:
                    first.setdefault(env_id, (category, level))

        tasks = list[Task]()
        for index, (env_id, (category, level)) in enumerate(first.items()):
            tasks.append(Task(index, category.name, category.skill, level.name, env_id))
        return tuple(tasks)

    def select(self, *, start_category: str | None = None, only: Sequence[str] = ()) -> Curriculum:
        """Return the part of this curriculum that is asked for; names are compared without regard to case.

        Args:
            start_category: drops the categories before it.
            only: each value narrows what is left. It names categories (``a,b``), or is a glob that keeps a level whose
                name or ``category/level`` it matches, or those of its configs whose id it matches.

        Raises:
            CurriculumError: a category that does not exist, or nothing is left.
            SettingsError: two values are of the same kind.
        """
        chosen = self.categories
        if start_category is not None:
            chosen = chosen[self._position(start_category) :]
        names, pattern = self.split_selection(only)
        if names is not None:
            chosen = self._keep_categories(chosen, names)
        if pattern is not None:
            chosen = self._matching(chosen, pattern)
        return replace(self, categories=chosen)

    def split_selection(self, only: Sequence[str]) -> tuple[str | None, str | None]:
        """Part the values of ``--only`` into names of categories and a pattern of levels or ids.

        What names categories, and what matches nothing, is taken for categories, so that the nearest one is told.

        Raises:
            SettingsError: two values are of the same kind.
        """
        names: str | None = None
        pattern: str | None = None
        for text in only:
            is_pattern = self._is_pattern(text)
            if (pattern if is_pattern else names) is not None:
                raise SettingsError(f"--only {text}: give categories in one value (A,B), and a pattern in another")
            if is_pattern:
                pattern = text
            else:
                names = text
        return names, pattern

    def _is_pattern(self, text: str) -> bool:
        """Return whether a value of ``--only`` means levels or ids, not categories."""
        names_level = any(
            _filter_configs(category, level, text) for category in self.categories for level in category.levels
        )
        known = {category.name for category in self.categories}
        if known.issuperset(split_names(text, known)):
            return False
        return names_level or bool(_PATTERN & set(text))

    def _keep_categories(self, chosen: tuple[Category, ...], only: str) -> tuple[Category, ...]:
        names = split_names(only, [category.name for category in self.categories])
        wanted = [self.categories[self._position(name)] for name in names]
        for category in wanted:
            if category not in chosen:
                start = chosen[0].name
                raise CurriculumError(
                    f'{self.source}: category "{category.name}" lies before the start category "{start}"'
                )
        return tuple(category for category in chosen if category in wanted)

    def _position(self, name: str) -> int:
        names = [category.name.casefold() for category in self.categories]
        if name.casefold() not in names:
            hint = _hint(name, (category.name for category in self.categories))
            raise CurriculumError(f"{self.source}: no category {_quote_json(name)}{hint}")
        return names.index(name.casefold())

    def _matching(self, categories: tuple[Category, ...], pattern: str) -> tuple[Category, ...]:
        kept = list[Category]()
        names = list[str]()
        for category in categories:
            levels = list[Level]()
            for level in category.levels:
                names += [level.name, *level.configs]
                if reduced := _filter_configs(category, level, pattern):
                    levels.append(reduced)
            if levels:
                kept.append(replace(category, levels=tuple(levels)))

        if not kept:
            hint = _hint(pattern, names)
            raise CurriculumError(f"{self.source}: no level or environment id matches {_quote_json(pattern)}{hint}")
        return tuple(kept)


def load(path: Path) -> Curriculum:
    """Read and validate a curriculum file.

    Raises:
        CurriculumError: one line that names the file and the faulty entry, or the line and column of bad JSON.
        FileError: it cannot be read.
    """
    return parse(read_text(path), str(path))


def select_tasks(settings: Settings, begun: Begun | None = None) -> tuple[Task, ...]:
    """Return the levels that the settings select, in order.

    Args:
        begun: the run that goes on, which has a curriculum of its own.

    Raises:
        CurriculumError: the curriculum is malformed, or a name in the settings is unknown.
        FileError: it cannot be read.
        ResumeError: the run is part of an evaluation, or has finished more levels than there are.
    """
    known = load(begun.folder.path / CURRICULUM if begun else Path(settings.curriculum))
    tasks = known.select(start_category=settings.start_category, only=settings.only).tasks()
    if begun is None:
        return tasks

    where = begun.folder.path
    if begun.info.get("evaluation"):
        raise ResumeError(f"{where}: is part of an evaluation: go on with the command of the evaluation and --resume")
    if len(begun.finished) > len(tasks):
        raise ResumeError(f"{where}: more levels are finished than the run has")
    _LOG.info("%s goes on after %d levels", where, len(begun.finished))
    return tasks


def parse(text: str, source: str) -> Curriculum:
    """Return the curriculum in a text, as :func:`load` does; ``source`` stands for the file in messages."""
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise CurriculumError(f"{source}: line {error.lineno} column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CurriculumError(f"{source}: {error}") from error
    if not isinstance(data, list) or not data:
        raise CurriculumError(f"{source}: must be a non-empty list of categories")

    categories = list[Category]()
    for index, entry in enumerate(data):
        categories.append(_category(entry, f"{source}: categories[{index}]"))
    _check_names_differ(categories, source)
    return Curriculum(source, tuple(categories))


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return a JSON object; a key that is there twice is an error, since only the last one would count."""
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key, times in counts.items() if times > 1)
        raise ValueError(f"an object has the key {_quote_json(repeated)} twice")
    return entries


def _category(entry: object, where: str) -> Category:
    fields = _fields(entry, _CATEGORY_KEYS, where)
    name = _name(fields, "category_name", where)
    where = f"{where} {_quote_json(name)}"
    skill = _text(fields, "skill", where)
    entries = _non_empty_list(fields, "levels", "levels", where)
    levels = list[Level]()
    for index, level in enumerate(entries):
        levels.append(_level(level, f"{where} levels[{index}]"))
    return Category(name, skill, tuple(levels))


def _level(entry: object, where: str) -> Level:
    fields = _fields(entry, _LEVEL_KEYS, where)
    name = _name(fields, "name", where)
    where = f"{where} {_quote_json(name)}"
    configs = []
    for index, config in enumerate(_non_empty_list(fields, "configs", "ids", where)):
        if not isinstance(config, str) or not config or not config.isprintable() or " " in config:
            raise CurriculumError(f"{where}: configs[{index}] must be an environment id, not {_quote_json(config)}")
        _check_length(config, f"{where}: configs[{index}]")
        configs.append(config)
    return Level(name, tuple(configs))


def _fields(entry: object, keys: tuple[str, ...], where: str) -> Mapping[str, object]:
    if not isinstance(entry, dict):
        raise CurriculumError(f"{where}: must be an object with {', '.join(map(_quote_json, keys))}")
    for key in entry:
        if key not in keys:
            raise CurriculumError(f"{where}: unknown key {_quote_json(key)}{_hint(key, keys)}")
    return entry


def _text(fields: Mapping[str, object], key: str, where: str) -> str:
    text = fields.get(key)
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise CurriculumError(f"{where}: {_quote_json(key)} must be a non-empty line of text")
    return text


def _name(fields: Mapping[str, object], key: str, where: str) -> str:
    name = _text(fields, key, where)
    if "/" in name or "\\" in name or name.startswith("."):
        raise CurriculumError(
            f'{where}: {_quote_json(key)} becomes part of file names: no "/", no "\\", no leading "."'
        )
    _check_length(name, f"{where}: {_quote_json(key)}")
    return name


def _check_length(name: str, where: str) -> None:
    if len(name.encode()) > _MAX_NAME:
        raise CurriculumError(f"{where} becomes part of file names: at most {_MAX_NAME} bytes of UTF-8")


def _non_empty_list(fields: Mapping[str, object], key: str, of: str, where: str) -> list[object]:
    entries = fields.get(key)
    if not isinstance(entries, list) or not entries:
        raise CurriculumError(f"{where}: {_quote_json(key)} must be a non-empty list of {of}")
    return entries


def _check_names_differ(categories: Iterable[Category], source: str) -> None:
    seen: set[str] = set()
    for category in categories:
        if category.name.casefold() in seen:
            raise CurriculumError(f"{source}: the category {_quote_json(category.name)} is there twice")
        seen.add(category.name.casefold())


def _filter_configs(category: Category, level: Level, pattern: str) -> Level | None:
    """Return the level with the configs that the glob asks for, None when it asks for none."""
    folded = pattern.casefold()
    full_name = f"{category.name}/{level.name}"
    if fnmatchcase(level.name.casefold(), folded) or fnmatchcase(full_name.casefold(), folded):
        return level
    configs = tuple(config for config in level.configs if fnmatchcase(config.casefold(), folded))
    return replace(level, configs=configs) if configs else None


def _hint(name: str, names: Iterable[str]) -> str:
    names = tuple(names)
    if near := find_nearest(name, names):
        return f"; did you mean {', '.join(map(_quote_json, near))}?"
    if len(names) > _FEW:
        return ""
    return f"; there are {', '.join(map(_quote_json, names))}"


def _quote_json(value: object) -> str:
    """Return JSON text, so that no control character reaches the terminal; cut so that it stays one line."""
    text = json.dumps(value)
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}..."


def split_names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names of a list with commas, each as it is known, case ignored; an unknown one as it was given.

    Known names may have commas: the longest that fits is meant.
    """
    by_folded = {name.casefold(): name for name in known}
    most = 1 + max((name.count(",") for name in by_folded), default=0)
    parts = text.split(",")
    names = list[str]()
    while parts:
        tried = list[str]()
        for count in range(min(most, len(parts)), 0, -1):
            joined = ",".join(parts[:count])
            tried += [joined, joined.strip()]

        name = next((form for form in tried if form.casefold() in by_folded), tried[-1])
        names.append(by_folded.get(name.casefold(), name))
        del parts[: 1 + name.count(",")]
    return tuple(names)
