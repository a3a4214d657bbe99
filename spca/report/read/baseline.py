"""The published run of the original system, with which runs are compared.

``published_baseline.json`` describes the run. For each level the file has outcome, minutes, rounds, attempts and calls,
but neither tokens nor steps. The file keeps all 81 original records, although two records have the same environment id,
which the curriculum listed twice. A comparison matches the first of these two records with the level, and lists the
second record without a partner. Another record has no partner, because minigrid has given its id a new version since.
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
    """Return the published run. Tokens, steps and times of day are not known; the cost is known only as a total."""
    file = resources.files("spca.report.read").joinpath("published_baseline.json")
    records = json.loads(file.read_text(encoding="utf-8"))["rows"]
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
    """Return a record of the published run as the row of level ``number``; the cost of its calls is not known."""
    calls = record["planner_calls"] + record["coder_calls"]
    usage = Usage(requests=calls, answered=calls, cost_unknown=calls)
    seconds = round(record["elapsed_min"] * 60, 3)

    return LevelRow(
        number=number,
        category=record["category"],
        level="",
        env_id=record["env_id"],
        seed=_SEED,
        outcome=record["outcome"],
        begun=1,
        seconds=seconds,
        rounds=record["spca_rounds"],
        attempts=record["simulation_runs"],
        planner_calls=record["planner_calls"],
        coder_calls=record["coder_calls"],
        usage=usage,
        version=ID,
    )
