"""The pool of atomic tasks: those that scenes may ask for, and those that were dropped, with the reason."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cache

from explorer.errors import UnknownNameError
from explorer.tasks.filter import candidates, coloured, reason_to_drop
from explorer.tasks.labels import LABELS, Label
from explorer.tasks.schemas import RuleType, Where
from explorer.tasks.wording import one, words


@dataclass(frozen=True, slots=True)
class Task:
    """One observable achievement.

    Attributes:
        id: such as ``take_item_emerald``.
        object: the item, block, mob or look that it is about.
        text: one sentence that states it as a goal.
        worlds: worlds that can pose it.
        why: why it was dropped, "" if it was kept.
    """

    id: str
    schema: str
    object: str
    text: str
    labels: frozenset[Label]
    rule: RuleType
    sources: tuple[str, ...]
    worlds: tuple[Where, ...]
    why: str = ""

    @property
    def kept(self) -> bool:
        """Whether scenes may ask for it."""
        return not self.why


@cache
def pool() -> dict[str, Task]:
    """Return every candidate by id, kept or dropped, in a fixed order."""
    tasks: dict[str, Task] = {}
    kept, by_colour = Counter[str](), Counter[str]()
    for candidate in candidates():
        schema = candidate.schema
        why = reason_to_drop(candidate, kept[schema.name], by_colour[schema.name])
        if not why:
            kept[schema.name] += 1
            by_colour[schema.name] += coloured(candidate.object)
        tasks[candidate.id] = Task(
            candidate.id,
            schema.name,
            candidate.object,
            schema.text.format(words(candidate.object), one=one(candidate.object)),
            schema.labels,
            schema.rule,
            schema.sources,
            schema.worlds,
            why,
        )
    return tasks


def kept_tasks() -> tuple[Task, ...]:
    """Return the tasks that scenes may ask for."""
    return tuple(each for each in pool().values() if each.kept)


def task(name: str) -> Task:
    """Return a kept task by its id.

    Raises:
        UnknownNameError: there is no such task.
    """
    found = pool().get(name)
    if found is None or not found.kept:
        raise UnknownNameError("task", name, [each.id for each in kept_tasks()])
    return found


def as_json() -> str:
    """Return the pool in the format of ``pool.json``: kept tasks in full, dropped ones with id and reason."""
    kept = [
        {
            "id": each.id,
            "schema": each.schema,
            "text": each.text,
            "labels": [label for label in LABELS if label in each.labels],
            "rule": each.rule,
            "sources": each.sources,
            "worlds": each.worlds,
        }
        for each in kept_tasks()
    ]
    dropped = {each.id: each.why for each in pool().values() if not each.kept}
    return json.dumps({"kept": kept, "dropped": dropped}, indent=1) + "\n"


if __name__ == "__main__":
    print(as_json(), end="")
