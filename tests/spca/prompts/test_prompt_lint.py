"""Both prompts on every level of the curriculum with a large library: their size, and what gets in.

Tokens are counted as o200k, offline. Sizes are also those of the worst case that a level has: all of it explored, a
failure told at length. What gets in is tried by changing what must not.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from functools import cache, lru_cache
from importlib import resources
from typing import Any

import pytest
from minigrid.core.world_object import Box
from rs_bpe import openai

from coderLLM import CoderLLM
from minigridenv import MiniGridEnv
from plannerLLM import PlannerLLM
from spca.code import library
from spca.contracts import (
    ActionSchema,
    AgentSource,
    FailedPlan,
    LevelInfo,
    Outcome,
    Plan,
    PlannerMode,
    PlanStep,
    Snapshot,
    Status,
    TraceStep,
    TrustedPDDL,
)
from spca.errors import ProviderConfigError
from spca.llm.providers.base import Message
from spca.plan.pddl import extract_actions
from spca.reference import planner as reference
from spca.runs import curriculum
from spca.sense import perception
from tests.support.bodies.grid import agent_state, failure_report, planner_state, show
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import (
    AGENT,
    LEVEL,
    ROOT,
    Events,
    ScriptedProvider,
    coder_client,
    planner_client,
    shared_solver,
)
from tests.support.tiers import long

TASKS = curriculum.load(ROOT / "merged_curriculum2.json").tasks()
SEED = 987654
PLANNER_TOKENS, CODER_TOKENS = 4000, 6000
PLANNER_SYSTEM_TOKENS = 1005
WRITER_TOKENS = 350
METHODS = 200
SEEN_AT_ONCE = {"MiniGrid-Empty-5x5-v0"}
"""Levels that are so small that the first view shows all."""
WHY = "no usable code after 6 calls: " + "reach_goal must take (self, agent, goal), not (self, goal); " * 20
FAILED = tuple(FailedPlan(f"[{', '.join(['walk_somewhere(a1, key_blue)'] * 12)}]", "stuck", WHY) for _ in range(4))


@dataclass(frozen=True, slots=True)
class Seen:
    """What can be known of a level: at its start, and once all of it was seen; and the plan of the reference model."""

    start: Snapshot
    explored: Snapshot
    level: LevelInfo
    plan: Plan

    @property
    def longest(self) -> Snapshot:
        """The one that has most to tell."""
        return max(self.start, self.explored, key=lambda snapshot: len(json.dumps(planner_state(snapshot))))


@lru_cache(maxsize=1)
def counter() -> Any:
    return openai.o200k_base()


def tokens(messages: list[Message]) -> int:
    return sum(tokens_of(message.text) for message in messages)


@cache
def tokens_of(text: str) -> int:
    """Counted once: what the system is told is the same on every level."""
    return int(counter().count(text))


@pytest.fixture(scope="module")
def levels() -> Mapping[str, Seen]:
    return {task.env_id: seen(task) for task in TASKS}


def seen(task: curriculum.Task) -> Seen:
    with closing(MiniGridEnv(task.env_id, SEED)) as world:
        start = world.sense()
        codes = perception.encode_view(world._sim.grid.encode())
        codes[tuple(reversed(world._sim.agent_pos))] = perception.AGENT
    level = LevelInfo(task.category, task.skill, task.level)
    shown = start.shown
    whole = show(perception.grid_words(codes), shown["direction"], shown["inventory"])
    explored = replace(start, shown={**whole, "visible_objects": shown["visible_objects"]})
    return Seen(start, explored, level, planned(explored, level))


def planned(snapshot: Snapshot, level: LevelInfo) -> Plan:
    """The reference model's PDDL with a plan in which each of its actions occurs twice."""
    pddl = json.loads(reference.answer(to_planner(snapshot, level)))
    schemas = extract_actions(pddl["domain"])
    steps = [PlanStep(s.name, ("a1", *["object_purple_behind"] * (len(s.parameters) - 1))) for s in schemas]
    return Plan((*steps, *steps), pddl["domain"], pddl["problem"], schemas, PlannerMode.FRESH)


@lru_cache(maxsize=1)
def large_agent() -> AgentSource:
    """The initial agent with all reference skills and as many long methods as make up :data:`METHODS`."""
    folder = resources.files("spca.reference") / "skills"
    files = sorted(file.name for file in folder.iterdir() if file.name.endswith(".py") and file.name[0] != "_")
    skills = [(folder / name).read_text(encoding="utf-8").partition("class Agent:\n")[2] for name in files]
    text = "import numpy as np\n" + AGENT.text + "".join(skills)
    count = METHODS - text.count("    def ")
    made = (
        f"\n    def {name}(self, agent, thing_{n}, target_{n}):\n"
        f'        """Find the thing number {n}, pick it up and carry it to the goal square or through doors."""\n'
        + f"        if self.inventory is None and self.current_dir != 'North':\n            yield {n % 7}\n"
        * 12
        for n in range(count)
        for name in [f"carry_object_{n}_to" if n % 3 else f"_carry_{n}_on"]
    )
    agent = AgentSource(text + "".join(made))
    assert len(library.high_level_actions(agent.text)) > METHODS / 2
    return agent


@lru_cache(maxsize=256)
def actions_for(mission: str) -> str:
    return library.action_listing(large_agent().text, mission)


def to_planner(
    snapshot: Snapshot,
    level: LevelInfo,
    trusted: TrustedPDDL | None = None,
    failed: tuple[FailedPlan, ...] = (),
    compiles: bool = False,
) -> list[Message]:
    """The first messages that a planner gets."""
    model = ScriptedProvider(ProviderConfigError("enough"))
    planner = PlannerLLM(ref("x/m"), ref("x/m"), shared_solver(), Events(), planner_client(model), compiles=compiles)
    with pytest.raises(ProviderConfigError):
        planner.plan(snapshot, level, actions_for(snapshot.mission), trusted=trusted, failed=failed)
    return list(model.requests[0].messages)


def to_coder(
    snapshot: Snapshot, level: LevelInfo, plan: Plan, error: str | None = None, agent: AgentSource = AGENT
) -> list[Message]:
    """The first messages that a coder gets."""
    model = ScriptedProvider(ProviderConfigError("enough"))
    coder = CoderLLM(ref("x/m"), Events(), coder_client(model))
    schemas = {schema.name: schema for schema in plan.schemas}
    state = agent_state(snapshot, level.skill, plan.objects)
    with pytest.raises(ProviderConfigError):
        coder.implement_actions(plan.actions, schemas, plan.text, state, error, agent=agent)
    return list(model.requests[0].messages)


def long_failure(known: Seen) -> str:
    """The report of a long episode whose code says a lot, and why the next patch was refused."""
    last = known.plan.steps[-1]
    outcome = Outcome(
        Status.RUNTIME_ERROR,
        "ValueError: nothing like that is here " * 50,
        tuple(TraceStep(n % 7, n % 2, last.action, 100 + n) for n in range(700)),
        known.explored.shown,
        len(known.plan.steps) - 1,
        last.action,
        last.args,
        "".join(f"  agent_tmp.py, line {n}, in _step\n    yield from self._walk_{n}(target)\n" for n in range(99)),
        printed="still looking for it\n" * 99,
    )
    return "\n".join([failure_report(known.plan, outcome), WHY * 2])


def planner_prompts(known: Seen) -> Iterator[list[Message]]:
    domain = known.plan.domain.rstrip()[:-1] + known.plan.schemas[0].text * 9
    trusted = TrustedPDDL(f"{domain[: library.MAX_TRUSTED - len(known.plan.problem) - 1]})", known.plan.problem)
    yield to_planner(known.longest, known.level, trusted)
    yield to_planner(known.longest, known.level, failed=FAILED)


def coder_prompt(known: Seen) -> list[Message]:
    return to_coder(known.longest, known.level, known.plan, long_failure(known), large_agent())


def worst(sizes: Mapping[str, int]) -> tuple[int, str]:
    return max((size, env_id) for env_id, size in sizes.items())


@pytest.mark.parametrize("every", [4, long(1)])
def test_every_planner_prompt_is_short(levels: Mapping[str, Seen], every: int) -> None:
    shown = list(levels.items())[::every]
    size, env_id = worst({env_id: max(map(tokens, planner_prompts(known))) for env_id, known in shown})
    assert size < PLANNER_TOKENS, env_id


def test_what_the_planner_is_told_of_its_work_is_short(levels: Mapping[str, Seen]) -> None:
    system = to_planner(next(iter(levels.values())).start, LEVEL)[0]
    assert system.role == "system"
    assert tokens_of(system.text) <= PLANNER_SYSTEM_TOKENS
    with_writer = to_planner(next(iter(levels.values())).start, LEVEL, compiles=True)[0]
    assert tokens_of(with_writer.text) <= PLANNER_SYSTEM_TOKENS + WRITER_TOKENS


@pytest.mark.parametrize("every", [4, long(1)])
def test_every_coder_prompt_is_short(levels: Mapping[str, Seen], every: int) -> None:
    size, env_id = worst({env_id: tokens(coder_prompt(known)) for env_id, known in list(levels.items())[::every]})
    assert size < CODER_TOKENS, env_id


def test_sources_give_way_to_a_long_plan(levels: Mapping[str, Seen]) -> None:
    known = levels["BabyAI-BossLevel-v0"]
    conditions = " ".join(f"(fact_{n} ?agent ?thing ?target)" for n in range(12))
    schemas = tuple(
        ActionSchema(
            method.name,
            method.params,
            f"(:action {method.name}\n    :parameters (?agent - agent)\n    :precondition (and {conditions}))",
        )
        for method in library.high_level_actions(large_agent().text)[:12]
    )
    steps = tuple(PlanStep(schema.name, ("a1", "key_blue", "door_blue")) for schema in schemas)
    plan = replace(known.plan, steps=steps, schemas=schemas)
    messages = to_coder(known.explored, known.level, plan, long_failure(replace(known, plan=plan)), large_agent())
    usual = to_coder(known.explored, known.level, known.plan, long_failure(known), large_agent())
    assert tokens(messages) < CODER_TOKENS
    shown = [len(re.findall(r"^def \w+\(self", text_of(each[1:]), re.MULTILINE)) for each in (messages, usual)]
    assert shown[0] == 1, "what the error points into stays"
    assert shown[1] > 1


@pytest.mark.long
def test_a_prompt_holds_what_is_known_and_neither_id_nor_seed(levels: Mapping[str, Seen]) -> None:
    assert len(levels) == 150
    for env_id, known in levels.items():
        planner, coder = to_planner(known.start, known.level), to_coder(known.start, known.level, known.plan)
        assert block(planner, "snapshot") == planner_state(known.start)
        assert block(planner, "level") == asdict(known.level)
        assert block(coder, "agent_state") == agent_state(known.start, known.level.skill, known.plan.objects)
        assert tags(planner) == ["snapshot", "level", "actions"]
        assert tags(coder) == ["task", "agent_state", "agent_methods"]
        assert known.start.mission not in text_of(coder)
        for text in (text_of(planner), text_of(coder)):
            for hidden in (env_id, "MiniGrid", "BabyAI", str(SEED), "{{", "{%"):
                assert hidden not in text, (hidden, env_id)


@pytest.mark.parametrize("env_id", [task.env_id for task in TASKS[::6]])
def test_what_was_not_seen_changes_nothing(env_id: str) -> None:
    with closing(MiniGridEnv(env_id, SEED)) as world:
        before = world.sense()
        altered = alter_unseen(world)
        world.SLAM(world._sim.gen_obs())
        after = world.sense()
    assert altered > 0 or env_id in SEEN_AT_ONCE
    assert both_prompts(after) == both_prompts(before)


def test_equal_views_of_different_worlds_make_equal_prompts() -> None:
    hidden: dict[Snapshot, set[bytes]] = {}
    prompts: dict[Snapshot, set[str]] = {}
    for seed in range(40):
        with closing(MiniGridEnv("MiniGrid-LavaCrossingS11N5-v0", seed)) as world:
            snapshot = world.sense()
            hidden.setdefault(snapshot, set()).add(world._sim.grid.encode().tobytes())
            prompts.setdefault(snapshot, set()).add(both_prompts(snapshot))
    assert max(map(len, hidden.values())) > 1
    assert set(map(len, prompts.values())) == {1}


def both_prompts(snapshot: Snapshot) -> str:
    plan = Plan((PlanStep("go", ("a1",)),), "", "", (ActionSchema("go", ("a",), "(:action go)"),), PlannerMode.FRESH)
    return text_of([*to_planner(snapshot, LEVEL), *to_coder(snapshot, LEVEL, plan)])


def alter_unseen(world: MiniGridEnv) -> int:
    """Put a box where nothing was seen, everywhere; how many boxes."""
    sim = world._sim
    known = world._map
    count = 0
    for column, row in itertools.product(range(sim.grid.width), range(sim.grid.height)):
        r, c = known.index((row - world._start[1], column - world._start[0]))
        inside = 0 <= r < known.codes.shape[0] and 0 <= c < known.codes.shape[1]
        if (column, row) != tuple(sim.agent_pos) and not (inside and known.codes[r, c] != perception.UNSEEN):
            sim.grid.set(column, row, Box("purple"))
            count += 1
    return count


def text_of(messages: list[Message]) -> str:
    return "\n".join(message.text for message in messages)


def tags(messages: list[Message]) -> list[str]:
    return re.findall(r"^<(\w+)>$", messages[-1].text, re.MULTILINE)


def block(messages: list[Message], tag: str) -> Any:
    (body,) = re.findall(rf"^<{tag}>\n(.*?)\n</{tag}>$", messages[-1].text, re.DOTALL | re.MULTILINE)
    return json.loads(body)
