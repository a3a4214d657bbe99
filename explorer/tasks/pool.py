"""The pool of atomic tasks: those that scenes may ask for, and those that were dropped, with the reason."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from explorer.errors import UnknownNameError
from explorer.tasks.labels import Label
from explorer.tasks.schemas import SCHEMAS, RuleType, Schema
from explorer.tasks.wording import one, words


@dataclass(frozen=True, slots=True)
class Task:
    """One observable achievement.

    Attributes:
        id: such as ``take_item_emerald``.
        object: the item, block, mob or look that it is about.
        text: one sentence that states it as a goal.
        why: why it was dropped, "" if it was kept.
    """

    id: str
    schema: str
    object: str
    text: str
    labels: frozenset[Label]
    rule: RuleType
    sources: tuple[str, ...]
    why: str = ""

    @property
    def kept(self) -> bool:
        """Whether scenes may ask for it."""
        return not self.why


@cache
def pool() -> dict[str, Task]:
    """Return every candidate by id, kept or dropped, in a fixed order: those that schemas name are kept."""
    tasks = [_make_task(schema, thing) for schema in SCHEMAS for thing in schema.objects]
    document = json.loads(Path(__file__).with_name("pool.json").read_text("utf-8"))
    for name, why in document["dropped"].items():
        schema = next(each for each in SCHEMAS if name.startswith(f"{each.name}_"))
        tasks.append(_make_task(schema, name.removeprefix(f"{schema.name}_"), why))
    return {each.id: each for each in tasks}


def _make_task(schema: Schema, thing: str, why: str = "") -> Task:
    return Task(
        id=f"{schema.name}_{thing}",
        schema=schema.name,
        object=thing,
        text=schema.text.format(words(thing), one=one(thing)),
        labels=schema.labels,
        rule=schema.rule,
        sources=schema.sources,
        why=why,
    )


def list_kept_tasks() -> tuple[Task, ...]:
    """Return the tasks that scenes may ask for."""
    return tuple(each for each in pool().values() if each.kept)


def task(name: str) -> Task:
    """Return a kept task by its id.

    Raises:
        UnknownNameError: there is no such task.
    """
    found = pool().get(name)
    if found is None or not found.kept:
        raise UnknownNameError("task", name, [each.id for each in list_kept_tasks()])
    return found
