"""The pool of atomic tasks: tasks for which scenes may ask, and dropped tasks with the reason."""

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
        id: name of the schema and object, such as ``take_item_emerald``.
        schema: name of the schema.
        object: the item, block, mob, colour or place that the task is about.
        text: one sentence that states the task as a goal.
        labels: capabilities that the task exercises.
        rule: type of the rule that judges the task.
        sources: see :class:`explorer.tasks.schemas.Schema`.
        why: why the task was dropped, or "" for a kept task.
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
        """Whether scenes may ask for the task."""
        return not self.why


@cache
def pool() -> dict[str, Task]:
    """Return id -> task, first the kept tasks in the order of the schemas, then the dropped tasks."""
    tasks = [_make_task(schema, thing) for schema in SCHEMAS for thing in schema.objects]
    document = json.loads(Path(__file__).with_name("pool.json").read_text("utf-8"))
    for name, why in document["dropped"].items():
        # No name of a schema begins with the name of another schema and "_".
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
    """Return the tasks for which scenes may ask, in the order of the pool."""
    return tuple(each for each in pool().values() if each.kept)


def task(name: str) -> Task:
    """Return a kept task by its id.

    Raises:
        UnknownNameError: the pool contains no kept task with this id.
    """
    candidate = pool().get(name)
    if candidate is None or not candidate.kept:
        raise UnknownNameError("task", name, [each.id for each in list_kept_tasks()])
    return candidate
