"""Load, validate and narrow a curriculum file, and list the environments that a run plays.

The file is a JSON list of categories ``{"category_name", "skill", "levels"}``. A level is ``{"name", "configs"}``;
``configs`` are environment ids. This module does not check whether an id exists, because only the simulator knows that.
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
_PATTERN_CHARACTERS = frozenset("*?[-")
"""Characters that mark a value of ``--only`` as a glob (``*?[``) or as an environment id (``-``)."""
_MAX_LISTED_NAMES = 12
"""Largest number of known names that an error message on an unknown name lists if no name is similar."""
_MAX_QUOTE = 80
"""Largest number of characters of a value that an error message quotes."""
_MAX_NAME = 100
"""Largest size in bytes of a category's name or an environment id; a file name, of at most 255 bytes, has both."""


@dataclass(frozen=True, slots=True)
class Level:
    """Environments with the same kind of mission; ``configs`` are the ids of the environments, at least one.

    Two levels of a category may have the same name.
    """

    name: str
    configs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """Levels that are solved by one skill, in the order of learning."""

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
        """Return what the planner is told about the task."""
        return LevelInfo(self.category, self.skill, self.level)

    def place(self, seed: int) -> dict[str, object]:
        """Return the fields that identify the level in events and summaries."""
        return {"level_name": self.env_id, "lvl_group": self.level, "category": self.category, "seed": seed}


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Categories in the order of learning.

    ``source`` names the curriculum in error messages: the path of its file, or a name of its text.
    """

    source: str
    categories: tuple[Category, ...]

    def tasks(self) -> tuple[Task, ...]:
        """Return one task per environment id, in order; an id that is listed again makes no second task."""
        first_listed: dict[str, tuple[Category, Level]] = {}
        for category in self.categories:
            for level in category.levels:
                for env_id in level.configs:
                    first_listed.setdefault(env_id, (category, level))

        tasks: list[Task] = []
        for index, (env_id, (category, level)) in enumerate(first_listed.items()):
            tasks.append(Task(index, category.name, category.skill, level.name, env_id))
        return tuple(tasks)

    def select(self, *, start_category: str | None = None, only: Sequence[str] = ()) -> Curriculum:
        """Return the selected part of this curriculum; names are compared without regard to case.

        Args:
            start_category: the first category to keep; the categories before ``start_category`` are dropped.
            only: at most two values: names of categories (``a,b``), and a glob. If the glob matches the name of a level
                or ``category/level``, the whole level is kept. Otherwise, the ids that the glob matches are kept.

        Raises:
            CurriculumError: a category does not exist, or no level is left.
            SettingsError: both values name categories, or both are globs.
        """
        chosen = self.categories
        if start_category is not None:
            chosen = chosen[self._find_category_index(start_category) :]
        names, pattern = self.split_selection(only)
        if names is not None:
            chosen = self._keep_categories(chosen, names)
        if pattern is not None:
            chosen = self._keep_matching(chosen, pattern)
        return replace(self, categories=chosen)

    def split_selection(self, only: Sequence[str]) -> tuple[str | None, str | None]:
        """Split the values of ``--only``; return the value that names categories, and the pattern of levels or ids.

        Either is None if no value is of that kind. A plain word that matches nothing counts as the name of a category,
        so that the error message suggests the most similar category.

        Raises:
            SettingsError: two values are of the same kind.
        """
        names: str | None = None
        pattern: str | None = None
        for text in only:
            is_pattern = self._is_pattern(text)
            earlier = pattern if is_pattern else names
            if earlier is not None:
                raise SettingsError(f"--only {text}: give categories in one value (A,B), and a pattern in another")
            if is_pattern:
                pattern = text
            else:
                names = text
        return names, pattern

    def _is_pattern(self, text: str) -> bool:
        """Return whether a value of ``--only`` selects levels or ids, not categories."""
        matches_level = any(
            _filter_configs(category, level, text) for category in self.categories for level in category.levels
        )
        known = {category.name for category in self.categories}
        names_categories = known.issuperset(split_names(text, known))
        if names_categories:
            return False
        return matches_level or bool(_PATTERN_CHARACTERS & set(text))

    def _keep_categories(self, chosen: tuple[Category, ...], only: str) -> tuple[Category, ...]:
        """Return those of the ``chosen`` categories that ``only`` names, in the order of learning."""
        names = split_names(only, [category.name for category in self.categories])
        wanted = [self.categories[self._find_category_index(name)] for name in names]
        for category in wanted:
            if category not in chosen:
                start = chosen[0].name
                raise CurriculumError(
                    f'{self.source}: category "{category.name}" lies before the start category "{start}"'
                )
        return tuple(category for category in chosen if category in wanted)

    def _find_category_index(self, name: str) -> int:
        names = [category.name.casefold() for category in self.categories]
        if name.casefold() not in names:
            hint = _hint(name, (category.name for category in self.categories))
            raise CurriculumError(f"{self.source}: no category {_quote_json(name)}{hint}")
        return names.index(name.casefold())

    def _keep_matching(self, categories: tuple[Category, ...], pattern: str) -> tuple[Category, ...]:
        """Return the categories with only the levels and ids that match ``pattern``, leaving out empty categories."""
        kept: list[Category] = []
        for category in categories:
            levels: list[Level] = []
            for level in category.levels:
                if reduced := _filter_configs(category, level, pattern):
                    levels.append(reduced)
            if levels:
                kept.append(replace(category, levels=tuple(levels)))

        if not kept:
            names: list[str] = []
            for category in categories:
                for level in category.levels:
                    names += [level.name, *level.configs]
            hint = _hint(pattern, names)
            raise CurriculumError(f"{self.source}: no level or environment id matches {_quote_json(pattern)}{hint}")
        return tuple(kept)


def load(path: Path) -> Curriculum:
    """Read and validate a curriculum file.

    Raises:
        CurriculumError: the curriculum is malformed. The message names the file and the faulty entry, or the line and
            column of the bad JSON.
        FileError: the file cannot be read.
    """
    return parse(read_text(path), str(path))


def select_tasks(settings: Settings, begun: Begun | None = None) -> tuple[Task, ...]:
    """Return the levels that the settings select, in order.

    Args:
        begun: the run to resume, whose folder holds a copy of the run's curriculum; None for a new run.

    Raises:
        CurriculumError: the curriculum is malformed, or a name in the settings is unknown.
        FileError: the curriculum cannot be read.
        ResumeError: the run is part of an evaluation, or has finished more levels than the curriculum has.
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
    """Parse the text of a curriculum and validate every entry.

    Args:
        source: name of the text in error messages, such as a path.

    Raises:
        CurriculumError: see :func:`load`.
    """
    try:
        data = json.loads(text, object_pairs_hook=_make_object)
    except json.JSONDecodeError as error:
        raise CurriculumError(f"{source}: line {error.lineno} column {error.colno}: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise CurriculumError(f"{source}: {error}") from error
    if not isinstance(data, list) or not data:
        raise CurriculumError(f"{source}: must be a non-empty list of categories")

    categories: list[Category] = []
    for index, entry in enumerate(data):
        categories.append(_parse_category(entry, f"{source}: categories[{index}]"))
    _check_names_differ(categories, source)
    return Curriculum(source, tuple(categories))


def _make_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Return the pairs of a JSON object as a dict.

    Raises:
        ValueError: a key occurs twice; json.loads alone would silently take the last value.
    """
    entries = dict(pairs)
    if len(entries) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        repeated = next(key for key, times in counts.items() if times > 1)
        raise ValueError(f"an object has the key {_quote_json(repeated)} twice")
    return entries


def _parse_category(entry: object, where: str) -> Category:
    fields = _require_object(entry, _CATEGORY_KEYS, where)
    name = _require_name(fields, "category_name", where)
    where = f"{where} {_quote_json(name)}"
    skill = _require_text(fields, "skill", where)
    entries = _require_list(fields, "levels", "levels", where)
    levels: list[Level] = []
    for index, level in enumerate(entries):
        levels.append(_parse_level(level, f"{where} levels[{index}]"))
    return Category(name, skill, tuple(levels))


def _parse_level(entry: object, where: str) -> Level:
    fields = _require_object(entry, _LEVEL_KEYS, where)
    name = _require_name(fields, "name", where)
    where = f"{where} {_quote_json(name)}"
    configs = []
    for index, config in enumerate(_require_list(fields, "configs", "ids", where)):
        if not isinstance(config, str) or not _is_printable_word(config):
            raise CurriculumError(f"{where}: configs[{index}] must be an environment id, not {_quote_json(config)}")
        _check_length(config, f"{where}: configs[{index}]")
        configs.append(config)
    return Level(name, tuple(configs))


def _is_printable_word(text: str) -> bool:
    return bool(text) and text.isprintable() and " " not in text


def _require_object(entry: object, keys: tuple[str, ...], where: str) -> Mapping[str, object]:
    """Return ``entry``; raise an error if ``entry`` is no JSON object or has a key that is not in ``keys``."""
    if not isinstance(entry, dict):
        raise CurriculumError(f"{where}: must be an object with {', '.join(map(_quote_json, keys))}")
    for key in entry:
        if key not in keys:
            raise CurriculumError(f"{where}: unknown key {_quote_json(key)}{_hint(key, keys)}")
    return entry


def _require_text(fields: Mapping[str, object], key: str, where: str) -> str:
    """Return the value of ``key``, which must be a non-empty line of printable text; else raise an error."""
    text = fields.get(key)
    if not isinstance(text, str) or not text.strip() or not text.isprintable():
        raise CurriculumError(f"{where}: {_quote_json(key)} must be a non-empty line of text")
    return text


def _require_name(fields: Mapping[str, object], key: str, where: str) -> str:
    """Return the text at ``key``, which must be usable as a part of a file name; else raise an error."""
    name = _require_text(fields, key, where)
    if "/" in name or "\\" in name or name.startswith("."):
        raise CurriculumError(
            f'{where}: {_quote_json(key)} becomes part of file names: no "/", no "\\", no leading "."'
        )
    _check_length(name, f"{where}: {_quote_json(key)}")
    return name


def _check_length(name: str, where: str) -> None:
    if len(name.encode()) > _MAX_NAME:
        raise CurriculumError(f"{where} becomes part of file names: at most {_MAX_NAME} bytes of UTF-8")


def _require_list(fields: Mapping[str, object], key: str, items: str, where: str) -> list[object]:
    """Return the list at ``key``; raise an error if the list is missing or empty.

    ``items`` is the word for the list's entries in the error message.
    """
    entries = fields.get(key)
    if not isinstance(entries, list) or not entries:
        raise CurriculumError(f"{where}: {_quote_json(key)} must be a non-empty list of {items}")
    return entries


def _check_names_differ(categories: Iterable[Category], source: str) -> None:
    """Raise an error if two categories have the same name, apart from case."""
    seen: set[str] = set()
    for category in categories:
        if category.name.casefold() in seen:
            raise CurriculumError(f"{source}: the category {_quote_json(category.name)} is there twice")
        seen.add(category.name.casefold())


def _filter_configs(category: Category, level: Level, pattern: str) -> Level | None:
    """Return the level with only the configs that the glob ``pattern`` selects; None if no config is selected.

    A glob that matches the name of the level, or ``category/level``, selects all configs.
    """
    folded = pattern.casefold()
    full_name = f"{category.name}/{level.name}"
    if fnmatchcase(level.name.casefold(), folded) or fnmatchcase(full_name.casefold(), folded):
        return level
    configs = tuple(config for config in level.configs if fnmatchcase(config.casefold(), folded))
    return replace(level, configs=configs) if configs else None


def _hint(name: str, names: Iterable[str]) -> str:
    """Return the end of an error message on the unknown ``name``: the names that are similar to it.

    If no name is similar, list all names; if these are too many, return "".
    """
    names = tuple(names)
    if near := find_nearest(name, names):
        return f"; did you mean {', '.join(map(_quote_json, near))}?"
    if len(names) > _MAX_LISTED_NAMES:
        return ""
    return f"; there are {', '.join(map(_quote_json, names))}"


def _quote_json(value: object) -> str:
    """Return ``value`` as JSON, cut to :data:`_MAX_QUOTE` characters.

    JSON escapes control characters, so that none reaches the terminal.
    """
    text = json.dumps(value)
    return text if len(text) <= _MAX_QUOTE else f"{text[:_MAX_QUOTE]}..."


def split_names(text: str, known: Iterable[str]) -> tuple[str, ...]:
    """Return the names in a comma-separated list.

    Case is ignored: each name is returned in the spelling of ``known``. An unknown name is returned as given. Because
    known names may contain commas, the longest known name that fits is taken.
    """
    by_folded = {name.casefold(): name for name in known}
    max_parts = 1 + max((name.count(",") for name in by_folded), default=0)
    parts = text.split(",")
    names: list[str] = []
    while parts:
        candidates: list[str] = []
        for count in range(min(max_parts, len(parts)), 0, -1):
            joined = ",".join(parts[:count])
            candidates += [joined, joined.strip()]

        unknown = candidates[-1]
        name = next((form for form in candidates if form.casefold() in by_folded), unknown)
        names.append(by_folded.get(name.casefold(), name))
        parts_used = 1 + name.count(",")
        del parts[:parts_used]
    return tuple(names)
