"""The published run of the original system, to compare runs with.

``published_baseline.json`` says what it is; per level it has outcome, minutes, rounds, attempts and calls, but neither
tokens nor steps. Its 81 records are kept as they are: one environment id, which the curriculum lists twice, was played
twice. In a comparison the first record meets the level of that id, the second stands alone; so does the one id that
minigrid has since given a new version.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from spca.report.read.model import LevelRow, Run, Usage
from spca.report.read.runs import categories

ID: Final = "published"
_MODELS: Final = {"planner": "o3", "planner_small": "o4-mini", "coder": "codex-mini-latest"}
_SEED: Final = 1
_BILLED_USD: Final = 2.41


def read_published() -> Run:
    """Return the published run as far as it is known: no tokens, steps or times of day, and only its total cost."""
    text = resources.files("spca.report.read").joinpath("published_baseline.json").read_text(encoding="utf-8")
    records = json.loads(text)["rows"]
    levels = tuple(_row(number, record) for number, record in enumerate(records, 1))
    calls = sum(row.planner_calls + row.coder_calls for row in levels)
    usage = Usage(requests=calls, answered=calls, cost_usd=_BILLED_USD)

    return Run(
        id=ID,
        folder="",
        state="stopped",
        settings={"seed": _SEED, "upstream_rules": True},  # judged by minigrid alone
        models=_MODELS,
        sandbox="none",
        seed=_SEED,
        usage=usage,
        categories=categories(levels),
        levels=levels,
        published=True,
    )


def _row(number: int, record: Mapping[str, Any]) -> LevelRow:
    calls = record["planner_calls"] + record["coder_calls"]
    usage = Usage(requests=calls, answered=calls, cost_unknown=calls)

    return LevelRow(
        number=number,
        category=record["category"],
        level="",
        env_id=record["env_id"],
        seed=_SEED,
        outcome=record["outcome"],
        begun=1,
        seconds=round(record["elapsed_min"] * 60, 3),
        rounds=record["spca_rounds"],
        attempts=record["simulation_runs"],
        planner_calls=record["planner_calls"],
        coder_calls=record["coder_calls"],
        usage=usage,
        version=ID,
    )
