"""A file of a run is read once, however often the log names it."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path

import pytest

from spca.report.level.levels import level
from spca.report.query import database
from spca.report.read.run_files import RunFiles
from spca.report.read.runs import overview


class Counting(RunFiles):
    """Counts the files that are read."""

    def __init__(self, path: Path) -> None:
        self.read = Counter[str]()
        super().__init__(path)

    def _bytes(self, name: str) -> bytes | None:
        self.read[name] += 1
        return super()._bytes(name)


def test_the_log_and_each_transcript_are_read_once(mixed_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(mixed_run, tmp_path / mixed_run.name)
    lines = (run / "metrics.jsonl").read_text().splitlines()
    repeated = [line for line in lines for _ in range(1 if "level_s" in json.loads(line)["event"] else 5)]
    (run / "metrics.jsonl").write_text("\n".join(repeated) + "\n")
    files = Counting(run)
    overview(files)
    for number in files.histories:
        level(files, number, None)
    list(database.ask([files], "FROM events").rows)
    read_once = {name: times for name, times in files.read.items() if name.startswith(("llm/", "metrics", "calls"))}
    assert len(read_once) > 5
    assert set(read_once.values()) == {1}


@pytest.mark.long
def test_numbers_beyond_all_floats_are_missing(mixed_run: Path, tmp_path: Path) -> None:
    run = shutil.copytree(mixed_run, tmp_path / mixed_run.name)
    with (run / "metrics.jsonl").open("a") as log:
        log.write('{"event": "x", "time": 1e999, "seconds": -1e999, "name": "\\ud800"}\n{"event": "y", "time": NaN}\n')
        log.write('{"event": "z", "seconds": 1e999}\n')
    result = database.ask([RunFiles(run)], "FROM (FROM events ORDER BY number DESC LIMIT 3) ORDER BY number")
    found = [dict(zip(result.names, row, strict=True)) for row in result.rows]
    assert [(row["event"], row["time"], row["seconds"]) for row in found] == [(e, None, None) for e in "xyz"]
    assert found[2]["data"] == '{"event":"z","seconds":null}'
    assert found[0]["name"] == "\\ud800"
