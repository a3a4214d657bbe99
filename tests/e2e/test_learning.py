"""A whole run: what it prints, what it leaves, and that its files agree."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from typing import Any

import gymnasium
import minigrid  # noqa: F401 - registers the environments
import pytest

from metrics_logger import COUNTERS, DURATIONS
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from tests.e2e.conftest import FURTHER_IDS, IDS, Learned
from tests.support.commands import events, level_summaries, read
from tests.support.spca.doubles import ROOT

pytestmark = pytest.mark.timeout(900)

ALL = (*IDS, *FURTHER_IDS)


def test_everything_is_solved(learned: Learned) -> None:
    summary = read(learned.run / "summary.json")
    assert (summary["levels"], summary["finished"], summary["solved"]) == (6, 6, 6)
    assert summary["failures"] == []
    assert [s["outcome"] for s in level_summaries(learned.run)] == ["success"] * 6
    assert [s["level"]["level_name"] for s in level_summaries(learned.run)] == list(ALL)


def test_nothing_but_our_plain_lines_is_printed(learned: Learned) -> None:
    assert learned.done.stderr == ""
    lines = learned.done.stdout.splitlines()
    assert lines[0].startswith("Models: the embedded reference model (no key needed)")
    assert lines[1].startswith("Sandbox: strict")
    assert lines[2].split() == ["navigation", "rounds", "calls", "steps", "time", "solved"]
    solved = r"solved (\d) all: (\S+) +[01] +[012] +\d+ +\d+\.\ds +\1/\1"
    rows = [found for line in lines if (found := re.fullmatch(solved, line))]
    assert [row[2] for row in rows] == list(ALL)
    assert {len(row[0]) for row in rows} == {len(lines[2])}
    table = lines.index(next(line for line in lines if line.strip() == "6 of 6 levels solved"))
    assert table == 10
    below = [line.split()[0] for line in lines[table + 1 : -3] if line[0] != "─"]
    assert below == ["category", "navigation", "doors"]
    assert re.fullmatch(r"planned without a call, by stored problem writers: [34] levels", lines[-3])
    assert re.fullmatch(r"\d+:\d\d elapsed; everything about the run lies in .*", lines[-2])
    assert re.fullmatch(r"look at it: python main.py report \S+", lines[-1])
    assert "\x1b" not in learned.done.stdout


def test_the_run_folder_holds_what_the_documentation_lists(learned: Learned) -> None:
    run_id = learned.run.name
    folders = {"agents", "llm", "pddl", "state", "summaries", "trajectories"}
    assert {path.name for path in learned.run.iterdir()} == folders | {
        *("run.json", "metrics.jsonl", "calls.jsonl", "summary.json", "prompt_log.md")
    }
    held = {str(path.relative_to(learned.run)) for name in folders for path in (learned.run / name).iterdir()}
    expected = {
        "state/.lock",
        "state/state.json",
        "state/finished.jsonl",
        "state/curriculum.json",
        "agents/agent_v0.py",
    }
    expected |= {f"{stem}_v{n}.{end}" for n in range(1, 7) for stem, end in _VERSIONED}
    expected |= {f"summaries/summary_navigation_{env_id}_{run_id}.json" for env_id in IDS}
    expected |= {f"summaries/summary_doors_{env_id}_{run_id}.json" for env_id in FURTHER_IDS}
    assert expected <= held
    others = {name for name in held - expected if not re.fullmatch(r"agents/[0-9a-f]{16}\.py", name)}
    assert {name.partition("/")[0] for name in others - {"pddl/writers"}} <= {"llm", "trajectories"}
    assert (learned.run / "state/curriculum.json").read_text() == learned.curriculum.read_text()


_VERSIONED = (("agents/agent", "py"), ("pddl/domain", "pddl"), ("pddl/problem", "pddl"))


def test_run_json_says_what_the_run_was_made_with(learned: Learned) -> None:
    info = read(learned.run / "run.json")
    assert info["run_id"] == learned.run.name
    assert info["models"] == {
        "planner": "reference/planner",
        "planner_small": "reference/planner",
        "coder": "reference/coder",
    }
    assert info["settings"]["seed"] == 1
    assert info["settings"]["curriculum"] == str(learned.curriculum)
    assert {"python", "spca", "minigrid", "unified-planning"} <= set(info["versions"])
    assert "git_commit" in info
    assert info["git_dirty"] in (True, False, None)
    assert [len(value) for value in info["hashes"].values()] == [64, 64, 64]


def test_the_library_grows_and_the_workspace_holds_the_newest(learned: Learned) -> None:
    texts = [(learned.run / f"agents/agent_v{n}.py").read_text() for n in range(7)]
    assert texts[0] == (ROOT / "agent.py").read_text()
    sizes = [summary["library"]["actions"] for summary in level_summaries(learned.run)]
    assert sizes == sorted(sizes)
    assert sizes[-1] > sizes[0] > 0
    assert (learned.workspace / "agent.py").read_text() == texts[-1]
    assert (learned.workspace / "agent_tmp.py").read_text() == texts[-1]
    for name in ("domain", "problem"):
        newest = (learned.run / f"pddl/{name}_v6.pddl").read_text()
        assert (learned.workspace / f"{name}.pddl").read_text() == newest


def test_the_folder_it_is_called_in_stays_clean(learned: Learned) -> None:
    assert learned.called_in == {}


def test_a_category_begins_with_fresh_pddl_and_the_inherited_agent(learned: Learned) -> None:
    modes = [[c["mode"] for c in _calls(learned, n)] for n in range(1, 7)]
    assert modes[:5] == [["fresh"], [], [], [], ["fresh"]]  # a writer plans those between
    assert modes[5] in ([], ["reuse"])
    first_of_doors = (learned.run / "agents/agent_v5.py").read_text()
    assert first_of_doors.startswith((learned.run / "agents/agent_v4.py").read_text().rstrip("\n")[:-200])


def _calls(learned: Learned, index: int) -> list[dict[str, Any]]:
    return [e for e in events(learned.run) if e["event"] == "planner_call" and e["level_index"] == index]


@pytest.mark.parametrize("index", range(1, 7))
def test_the_counters_of_a_level_are_those_of_its_events(learned: Learned, index: int) -> None:
    summary = level_summaries(learned.run)[index - 1]
    counters = summary["counters"]
    assert tuple(counters) == COUNTERS
    mine = [event for event in events(learned.run) if event.get("level_index") == index]
    assert Counter(e["name"] for e in mine if e["event"] == "counter_inc") == Counter(counters)
    seen = Counter(event["event"] for event in mine)
    assert seen["planner_call"] == counters["planner_calls"]
    assert seen["coder_call"] == counters["coder_calls"]
    assert counters["planner_calls"] == sum(counters[f"planner_{m}"] for m in ("fresh", "reuse", "replan", "syntax"))
    ways = ("planner_compiled", *(f"compiled_{miss}" for miss in ("refused", "invalid", "late", "left_out")))
    tried = sum(counters[way] for way in ways)
    assert seen["compiled_plan"] == tried
    assert seen["writer"] == counters["writer_accepted"] + counters["writer_rejected"]
    assert counters["coder_calls"] == sum(counters[f"coder_{m}"] for m in ("first", "semantic", "syntax"))
    assert (seen["level_start"], seen["level_summary"]) == (1, 1)
    assert (mine[0]["event"], mine[-1]["event"]) == ("level_start", "level_summary")
    assert tuple(summary["durations"]) == DURATIONS
    assert summary["durations"]["plan_s"]["count"] == counters["planner_calls"]
    assert summary["durations"]["code_s"]["count"] == counters["coder_calls"]
    assert summary["durations"]["sim_s"]["count"] == counters["simulation_runs"]


def test_the_summary_of_the_run_adds_up(learned: Learned) -> None:
    whole, levels = read(learned.run / "summary.json"), level_summaries(learned.run)
    for name in COUNTERS:
        assert whole["counters"][name] == sum(level["counters"][name] for level in levels)
    assert whole["steps"] == sum(level["steps"] for level in levels)
    assert whole["categories"]["navigation"]["steps"] == sum(level["steps"] for level in levels[:4])
    logged = [event for event in events(learned.run) if event["event"] == "level_summary"]
    assert [{key: event[key] for key in level} for event, level in zip(logged, levels, strict=True)] == levels


@pytest.mark.parametrize("env_id", ALL)
def test_a_trajectory_re_renders_its_episode(learned: Learned, env_id: str) -> None:
    (path,) = (learned.run / "trajectories").glob(f"*_{env_id}.json")
    recorded = read(path)
    last = recorded["attempts"][-1]
    assert recorded["env_id"] == env_id
    assert recorded["solved"]
    assert recorded["primitives"] == last["start"] + [code for code, *_ in last["steps"]]
    env = gymnasium.make(env_id, render_mode="rgb_array", disable_env_checker=True)
    env.reset(seed=recorded["seed"])
    for code in recorded["primitives"][:-1]:
        _, reward, terminated, truncated, _ = env.step(code)
        assert (reward, terminated, truncated) == (0, False, False)
    _, reward, terminated, _, _ = env.step(recorded["primitives"][-1])
    assert (reward, terminated) == (last["reward"], True)
    assert float(reward) > 0
    assert getattr(env.render(), "ndim", 0) == 3
    env.close()


@pytest.mark.parametrize("env_id", ALL)
def test_every_primitive_is_traced_to_a_line_that_yields(learned: Learned, env_id: str) -> None:
    (path,) = (learned.run / "trajectories").glob(f"*_{env_id}.json")
    last = read(path)["attempts"][-1]
    text = (learned.run / last["agent"]).read_text()
    assert hashlib.sha256(text.encode()).hexdigest().startswith(last["agent"].removeprefix("agents/")[:16])
    lines = text.splitlines()
    positions = [position for _, position, _ in last["steps"]]
    assert positions == sorted(positions)
    assert set(positions) <= set(range(len(last["plan"])))
    for _, position, line in last["steps"]:
        assert "yield" in lines[line - 1]
        assert f"def {last['plan'][position]['action']}(" in text


def test_a_plan_step_is_no_primitive(learned: Learned) -> None:
    for path in (learned.run / "trajectories").iterdir():
        assert not {s["action"] for s in read(path)["attempts"][-1]["plan"]} & set(PRIMITIVE_METHODS)
