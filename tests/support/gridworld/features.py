"""What can occur in a generated task, in words."""

from __future__ import annotations

from collections.abc import Iterator

from gridworld.generating.generator import SEARCH_LIMIT, VERSION, generate
from gridworld.task.conditions import parse_condition
from gridworld.task_spec import TaskSpecification

_FEATURES = """
goal reach_position, goal collect_all, goal push_block_to, goal survive_steps, sees full, sees view_cone,
sees fog_of_war, keys are used up, keys are kept, collected, not collected, carrying, not carrying, open,
not open, active, not active, at, not at, switch toggle, switch hold, switch one_shot, switch by rule toggle,
switch by rule one_shot, switch by rule hold, lava, pit, spike, block pushable, block fixed, teleporter both ways,
teleporter one way, door locked, door open, gate closed, gate open, distractor wrong_color_key,
distractor distractor_chain, distractor trap_door, distractor decoy_switch, distractor decoy_block,
distractor decoy_teleporter, depth 0, depth 1, depth 2, depth 3, depth 4, depth 5, link key-door, link switch-gate,
link block-switch, link teleporter, hidden mechanisms
"""
FEATURES = frozenset(" ".join(name.split()) for name in _FEATURES.split(","))
"""Everything that occurs in enough tasks of all tiers; "depth 5" is 5 or more."""


def features(spec: TaskSpecification) -> Iterator[str]:
    """Those of a task."""
    made, rules, goal = spec.mechanisms, spec.rules, spec.goal
    yield f"goal {goal.goal_type}"
    yield f"sees {rules.observability}"
    yield "keys are used up" if rules.key_consumption else "keys are kept"
    for condition in map(parse_condition, goal.auxiliary_conditions):
        yield f"{'not ' if condition.negated else ''}{condition.kind}"
    yield from (f"switch {switch.switch_type or f'by rule {rules.switch_type}'}" for switch in made.switches)
    yield from (hazard.hazard_type for hazard in made.hazards)
    yield from (f"block {'pushable' if block.pushable else 'fixed'}" for block in made.blocks)
    yield from (f"teleporter {'both ways' if end.bidirectional else 'one way'}" for end in made.teleporters)
    yield from (f"door {door.initial_state}" for door in made.doors)
    yield from (f"gate {gate.initial_state}" for gate in made.gates)
    yield from (f"distractor {distractor.type}" for distractor in spec.distractors or ())
    chain = spec.dependency_chain.sequence if spec.dependency_chain else ()
    yield f"depth {min(len(chain), 5)}"
    yield from (f"link {step.type}" for step in chain)
    if rules.hidden_mechanisms:
        yield "hidden mechanisms"


def regenerate(spec: TaskSpecification) -> TaskSpecification:
    """Make a generated task again from its metadata."""
    made = (spec.metadata or {})["generator"]
    assert made["version"] == VERSION
    return generate(
        made["tier"],
        made["seed"],
        index=made["index"],
        tiling=made["tiling"],
        mechanisms=made.get("mechanisms"),
        limit=made.get("limit", SEARCH_LIMIT),
    )
