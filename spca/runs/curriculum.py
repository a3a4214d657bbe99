"""Load, validate and narrow a curriculum file, and list the environments that a run plays.

``docs/curriculum.md`` describes the file. This module does not check whether an id exists, because only the simulator
knows that.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.names import find_nearest
from spca.contracts import LevelInfo, LevelSpec
from spca.errors import CurriculumError, ResumeError
from spca.runs.recording.folder import CURRICULUM, Begun
from spca.runs.settings import Settings

_LOG: Final = logging.getLogger(__name__)
_CATEGORY_KEYS = ("category_name", "skill", "levels")
_LEVEL_KEYS = ("name", "configs")
_CONFIG_KEYS = ("id", "kwargs", "seed", "seeds", "mission")
_FILE_KEYS = ("world", "categories")
_PATTERN_CHARACTERS = frozenset("*?[-")
"""Characters that mark a value of ``--only`` as a glob (``*?[``) or as an environment id (``-``)."""
_MAX_LISTED_NAMES = 12
"""Largest number of known names that an error message on an unknown name lists if no name is similar."""
_MAX_QUOTE = 80
"""Largest number of characters of a value that an error message quotes."""
_MAX_NAME = 100
"""Largest size in bytes of a category's name or a config's name; a file name, of at most 255 bytes, has both."""
DEFAULT_WORLD: Final = "minigrid"
"""Name of the world that builds the levels of a curriculum that names no world."""
MAX_SEED: Final = 2**31
"""Seeds are smaller than this number; larger ones are not seeds for every environment."""
_MAX_DIGITS: Final = 10
"""Largest number of digits of a seed in a range."""
_MAX_SEEDS: Final = 100_000
"""Largest number of seeds of one config."""


@dataclass(frozen=True, slots=True)
class Config:
    """An environment of a level.

    Attributes:
        seed: seed of the environment; None for the seed of the run.
    """

    spec: LevelSpec
    seed: int | None = None

    @property
    def name(self) -> str:
        """Name that differs between different configs; it is the environment id if the config is a plain id."""
        return self.spec.name if self.seed is None else f"{self.spec.name}#{self.seed}"

    def to_json(self) -> str | dict[str, Any]:
        """Return the config as in a curriculum file."""
        fields = {"kwargs": dict(self.spec.kwargs), "mission": self.spec.mission}
        entry: dict[str, Any] = {"id": self.spec.id} | {name: value for name, value in fields.items() if value}
        if self.seed is not None:
            entry["seed"] = self.seed
        return entry if len(entry) > 1 else self.spec.id


@dataclass(frozen=True, slots=True)
class Level:
    """Environments with the same kind of mission; there is at least one config.

    Two levels of a category may have the same name.
    """

    name: str
    configs: tuple[Config, ...]


@dataclass(frozen=True, slots=True)
class Category:
    """Levels that are solved by one skill, in the order of learning."""

    name: str
    skill: str
    levels: tuple[Level, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One environment to solve; ``index`` counts from 0 in the order of the run.

    Attributes:
        kwargs, mission, world: see :class:`spca.contracts.LevelSpec`.
        seed: seed of the environment; None for the seed of the run.
    """

    index: int
    category: str
    skill: str
    level: str
    env_id: str
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    seed: int | None = None
    mission: str = ""
    world: str = ""

    @property
    def spec(self) -> LevelSpec:
        """What the world of the task is built from."""
        return LevelSpec(self.env_id, self.kwargs, self.mission, self.world)

    @property
    def name(self) -> str:
        """Name that differs between the tasks of a run; see :attr:`Config.name`."""
        return Config(self.spec, self.seed).name

    def info(self) -> LevelInfo:
        """Return what the planner is told about the task."""
        return LevelInfo(self.category, self.skill, self.level)

    def place(self, seed: int) -> dict[str, object]:
        """Return the fields that identify the level in events and summaries."""
        return {"level_name": self.name, "lvl_group": self.level, "category": self.category, "seed": seed}


@dataclass(frozen=True, slots=True)
class Curriculum:
    """Categories in the order of learning.

    Attributes:
        source: names the curriculum in error messages: the path of its file, or a name of its text.
        world: name of the world that builds the levels; "" for the default.
    """

    source: str
    categories: tuple[Category, ...]
    world: str = ""

    def to_json(self) -> list[dict[str, Any]] | dict[str, Any]:
        """Return the content of a curriculum file that :func:`parse` reads as this curriculum."""
        categories: list[dict[str, Any]] = []
        for category in self.categories:
            levels: list[dict[str, Any]] = []
            for level in category.levels:
                levels.append({"name": level.name, "configs": [config.to_json() for config in level.configs]})
            categories.append({"category_name": category.name, "skill": category.skill, "levels": levels})
        return {"world": self.world, "categories": categories} if self.world else categories

    def play_in(self, world: str) -> Curriculum:
        """Return the same levels, built by a world; :data:`DEFAULT_WORLD` is recorded as ""."""
        return replace(self, world="" if world == DEFAULT_WORLD else world)

    def tasks(self) -> tuple[Task, ...]:
        """Return one task per config, in order; a config that is listed again makes no second task."""
        first_listed: dict[str, tuple[Category, Level, Config]] = {}
        for category in self.categories:
            for level in category.levels:
                for config in level.configs:
                    first_listed.setdefault(config.name, (category, level, config))

        tasks: list[Task] = []
        for index, (category, level, config) in enumerate(first_listed.values()):
            spec = config.spec
            place = (index, category.name, category.skill, level.name)
            tasks.append(Task(*place, spec.id, spec.kwargs, config.seed, spec.mission, self.world))
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
                    names += [level.name, *dict.fromkeys(config.spec.id for config in level.configs)]
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


def list_names(settings: Settings, begun: Begun | None) -> list[tuple[str, str, str]]:
    """Return category, level and name of each task that :func:`select_tasks` returns."""
    return [(task.category, task.level, task.name) for task in select_tasks(settings, begun)]


def read_world(path: Path) -> str | None:
    """Return the name of the world that a curriculum file names, None if it names none; :func:`load` checks the file.

    Raises:
        FileError: the file cannot be read.
    """
    try:
        content = json.loads(read_text(path))
    except (ValueError, RecursionError):
        return None
    world = content.get("world") if isinstance(content, dict) else None
    return world if isinstance(world, str) else None


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
    tasks = known.play_in(settings.world).select(start_category=settings.start_category, only=settings.only).tasks()
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
    world = ""
    if isinstance(data, dict) and data:
        fields = _require_object(data, _FILE_KEYS, source)
        world = _require_text(fields, "world", source) if "world" in fields else ""
        data = fields.get("categories")
    if not isinstance(data, list) or not data:
        raise CurriculumError(f"{source}: must be a non-empty list of categories")

    categories: list[Category] = []
    for index, entry in enumerate(data):
        categories.append(_parse_category(entry, f"{source}: categories[{index}]"))
    _check_names_differ(categories, source)
    return Curriculum(source, tuple(categories), world)


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
    configs: list[Config] = []
    for index, config in enumerate(_require_list(fields, "configs", "ids", where)):
        configs += _parse_config(config, f"{where}: configs[{index}]")
    return Level(name, tuple(configs))


def _parse_config(entry: object, where: str) -> list[Config]:
    """Return the configs of an entry: one, or one for each of its seeds."""
    if not isinstance(entry, dict):
        return [Config(LevelSpec(_require_id(entry, where)))]
    fields = _require_object(entry, _CONFIG_KEYS, where)
    env_id = _require_id(fields.get("id"), f'{where}: "id"')
    kwargs = fields.get("kwargs", {})
    if not isinstance(kwargs, dict):
        raise CurriculumError(f'{where}: "kwargs" must be an object of arguments, not {_quote_json(kwargs)}')
    mission = _require_text(fields, "mission", where) if "mission" in fields else ""
    spec = LevelSpec(env_id, kwargs, mission)

    configs = [Config(spec, seed) for seed in _parse_seeds(fields, where)]
    for config in configs:
        _check_length(config.name, where)
    return configs


def _parse_seeds(fields: Mapping[str, object], where: str) -> Sequence[int | None]:
    """Return the seeds of a config object; (None,) if the config has no seed of its own."""
    if "seed" in fields and "seeds" in fields:
        raise CurriculumError(f'{where}: has "seed" and "seeds": give one of them')
    if "seed" in fields:
        return (_require_seed(fields["seed"], f'{where}: "seed"'),)
    if "seeds" not in fields:
        return (None,)
    given = fields["seeds"]
    if isinstance(given, str):
        return _parse_range(given, f'{where}: "seeds"')
    seeds: list[int] = []
    for index, seed in enumerate(_require_list(fields, "seeds", 'numbers, or a range "FIRST:END"', where)):
        seeds.append(_require_seed(seed, f'{where}: "seeds"[{index}]'))
    return seeds


def _parse_range(text: str, where: str) -> range:
    """Return the seeds of a range ``FIRST:END``, without END."""
    first, colon, end = text.partition(":")
    are_numbers = all(part.isascii() and part.isdecimal() and len(part) <= _MAX_DIGITS for part in (first, end))
    if not colon or not are_numbers or not int(first) < int(end) <= MAX_SEED:
        raise CurriculumError(f'{where} must be a range such as "0:66", not {_quote_json(text)}')
    seeds = range(int(first), int(end))
    if len(seeds) > _MAX_SEEDS:
        raise CurriculumError(f"{where} must have at most {_MAX_SEEDS:,} seeds, not {len(seeds):,}")
    return seeds


def _require_seed(value: object, where: str) -> int:
    """Return ``value`` if it is a seed; else raise an error."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < MAX_SEED:
        raise CurriculumError(f"{where} must be a whole number from 0 to {MAX_SEED - 1}, not {_quote_json(value)}")
    return value


def _require_id(value: object, where: str) -> str:
    """Return ``value`` if it is an environment id that can be a part of a file name; else raise an error."""
    if not isinstance(value, str) or not _is_printable_word(value):
        raise CurriculumError(f"{where} must be an environment id, not {_quote_json(value)}")
    module, colon, _ = value.rpartition(":")
    if colon and not all(part.isidentifier() for part in module.split(".")):
        raise CurriculumError(f"{where}: {_quote_json(module)} before the colon is no module of Python")
    _check_length(value, where)
    return value


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
    configs = tuple(
        config
        for config in level.configs
        if fnmatchcase(config.spec.id.casefold(), folded) or fnmatchcase(config.name.casefold(), folded)
    )
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
