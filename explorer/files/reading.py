"""Read what our files and published ones share: rules, milestones, and the scene that commands built."""

from __future__ import annotations

from collections.abc import Iterable

from explorer.errors import SceneError, UnknownNameError
from explorer.files.building import Built
from explorer.files.json_text import validated
from explorer.files.schema import PARAMS, RULES, MilestoneText, RuleText
from explorer.milestones import Milestone, Rule
from explorer.scene import Scene, Wire


def rule_of(text: RuleText, source: str, field: str) -> Rule:
    """Return a rule.

    Args:
        source, field: where the rule is, for errors.

    Raises:
        SceneError: its type is unknown, or its parameters do not fit the type.
    """
    if text.type not in RULES:
        raise UnknownNameError("rule type", text.type, RULES, source, f"{field}.type")
    values = validated(PARAMS[text.type], text.params, source, f"{field}.params").model_dump()
    values.pop("coordinate_frame", None)
    return RULES[text.type](**values)


def milestone_of(text: MilestoneText, rules: Iterable[Rule]) -> Milestone:
    """Return a milestone with rules that were already read."""
    return Milestone(text.task, text.milestone_id, text.description, tuple(rules))


def scene_of(built: Built, name: str, wires: tuple[Wire, ...], *, dark: bool = False) -> Scene:
    """Return what was built as a scene; its blocks are read-only."""
    built.blocks.flags.writeable = False
    return Scene(
        name=name,
        spawn=built.spawn,
        blocks=built.blocks,
        items=built.items,
        chests=built.chests,
        mobs=built.mobs,
        wires=wires,
        inventory=built.inventory,
        dark=dark,
    )


def first(problems: Iterable[SceneError], source: str) -> None:
    """Raise the first problem, if there is one."""
    for problem in problems:
        raise problem.at(source)
