"""The real command in a process of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.support import forked
from tests.support.processes import Process
from tests.support.spca.doubles import ROOT
from tests.support.waiting import becomes

TIMES = ("run_id", "elapsed_min", "durations", "usage")
"""What the summaries of two equal runs may differ in."""

MINUTES = 300.0
"""Seconds that a command may take: on a busy machine one of ten seconds takes minutes, and one that hangs for ever."""

SET_BY_DEVELOPERS = (
    "OPENAI_API_KEY",
    "SPCA_PLANNER_MODEL",
    "SPCA_PLANNER_SMALL_MODEL",
    "SPCA_CODER_MODEL",
    "SPCA_PLANNER_EFFORT",
    "SPCA_PLANNER_SMALL_EFFORT",
    "SPCA_CODER_EFFORT",
    "SPCA_ENGINE",
    "SPCA_SERVERS",
    "SPCA_PLUGINS",
)


def command(*arguments: object) -> list[str]:
    """``python main.py ...`` with this interpreter."""
    return [sys.executable, str(ROOT / "main.py"), *map(str, arguments)]


def environment(**more: str) -> dict[str, str]:
    """The environment, with what a developer's own ``.env`` might set kept out."""
    return {**os.environ, **dict.fromkeys(SET_BY_DEVELOPERS, ""), **more}


def main_py(cwd: Path, *arguments: object, **env: str) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; where coverage is measured, from its very start."""
    if not any(name.startswith("COVERAGE") for name in os.environ):
        return forked.run(cwd, [*map(str, arguments)], environment(**env))
    return subprocess.run(
        command(*arguments),
        cwd=cwd,
        env=environment(**env),
        capture_output=True,
        text=True,
        timeout=MINUTES,
        check=False,
    )


def start(cwd: Path, *arguments: object) -> Process:
    """Begin the command."""
    return Process(command(*arguments), cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def wait_for(condition: Callable[[], object]) -> None:
    """Look until it is true."""
    assert becomes(condition), "it never happened"


def only_run(runs: Path) -> Path:
    """The one run folder below ``runs``."""
    (info,) = runs.glob("*/run.json")
    return info.parent


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def events(run: Path) -> list[dict[str, Any]]:
    """The complete lines of the event log."""
    *lines, _ = (run / "metrics.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines]


def level_summaries(run: Path) -> list[dict[str, Any]]:
    """The levels' summaries in order."""
    return sorted(map(read, run.glob("summaries/summary_*.json")), key=lambda summary: int(summary["index"]))


def timeless(value: Any) -> Any:
    """A summary without what two equal runs may differ in."""
    return {key: entry for key, entry in value.items() if key not in TIMES}


def curriculum(path: Path, **levels: Sequence[str]) -> Path:
    """Write a curriculum of these environment ids by category."""
    entries = [
        {"category_name": name, "skill": f"skill of {name}", "levels": [{"name": "all", "configs": list(ids)}]}
        for name, ids in levels.items()
    ]
    path.write_text(json.dumps(entries), encoding="utf-8")
    return path


def fingerprint(folder: Path) -> dict[str, str]:
    """Every file and folder below, with a hash of its content."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def solver_processes(host: int) -> list[int]:
    """Processes that solve for the process with this id."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            arguments = entry.read_bytes().split(b"\0")
        except OSError:
            continue
        if b"spca.plan.worker" in arguments and str(host).encode() in arguments:
            found.append(int(entry.parent.name))
    return found
