"""Read and edit the journal of finished levels in a run's folder."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from spca.runs.recording.finished import JOURNAL
from spca.runs.recording.folder import STATE


def read_finished(run: Path) -> list[dict[str, Any]]:
    """Return the summaries in the journal."""
    lines = (run / JOURNAL).read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["summary"] for line in lines]


def write_finished(run: Path, summaries: list[dict[str, Any]]) -> None:
    """Replace the summaries in the journal, and count them in the state file."""
    lines = [json.dumps({"summary": summary, "actions": None}) + "\n" for summary in summaries]
    (run / JOURNAL).write_text("".join(lines), encoding="utf-8")
    state = json.loads((run / STATE).read_text(encoding="utf-8"))
    (run / STATE).write_text(json.dumps(state | {"levels": len(summaries)}), encoding="utf-8")


def write_as_earlier_version(run: Path) -> None:
    """Write the state as the version before the journal did: with all summaries in the state file."""
    state = json.loads((run / STATE).read_text(encoding="utf-8"))
    del state["levels"]
    (run / STATE).write_text(json.dumps({"finished": read_finished(run), **state}), encoding="utf-8")
    (run / JOURNAL).unlink()
