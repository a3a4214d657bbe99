"""Looking at a run whose log is large: processor time of ``report``, ``replay`` and ``query``."""

from __future__ import annotations

import argparse
import json
import resource
import shutil
import subprocess
from pathlib import Path
from typing import Final

from tests.soak.common import SCRATCH, command, environment, only_run, run

MEANT_S = 10.0
"""What each command is meant to take for 200 MB on an idle machine."""
_TEXT_BYTES: Final = 21
"""Of the text that makes an event large, as JSON."""


def enlarge(source: Path, target: Path, size: int, *, large: bool) -> Path:
    """Copy a run with a log of ``size`` bytes: its events again and again, or with a text that makes each large."""
    shutil.copytree(source, target)
    lines = (source / "metrics.jsonl").read_bytes().splitlines(keepends=True)
    framing = [b'"level_start"' in line or b'"level_summary"' in line for line in lines]
    room = size // (len(lines) - sum(framing))
    with (target / "metrics.jsonl").open("wb") as log:
        for line, is_frame in zip(lines, framing, strict=True):
            if is_frame:
                log.write(line)
            elif large:
                text = 'an error "é"\n' * ((room - len(line)) // _TEXT_BYTES)
                log.write(json.dumps(json.loads(line) | {"error": text}).encode() + b"\n")
            else:
                log.writelines([line] * -(-room // len(line)))
    return target


def measured(*arguments: object) -> float:
    """Seconds of processor time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command(*map(str, arguments)), check=True, env=environment(), stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print the figures for many small events and for few large ones."""
    parser = argparse.ArgumentParser(prog="scripts/bench large-log", description=__doc__)
    parser.add_argument("--mb", type=int, default=200, help="size of the log (default 200)")
    options = parser.parse_args()
    home = SCRATCH / "bench_large_log"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    run("--quiet", "--only", "goal_navigation", "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
    learned = only_run(home / "runs")
    assert learned is not None
    for name, large in (("small", False), ("large", True)):
        big = enlarge(learned, home / name / "20260101-000000-aaaa", options.mb << 20, large=large)
        megabytes = (big / "metrics.jsonl").stat().st_size / 1e6
        print(f"{megabytes:.0f} MB of {name} events (meant: at most {MEANT_S:g} s each)")
        commands: dict[str, tuple[object, ...]] = {
            "report": ("report", big, "--out", home / "page.html"),
            "report --no-page": ("report", big, "--no-page"),
            "replay": ("replay", big, 1),
            "query levels": ("query", big, "FROM levels SELECT count(*)"),
            "query events": ("query", big, "FROM events SELECT count(*)"),
        }
        for words, arguments in commands.items():
            print(f"  {words:17} {measured(*arguments):.1f} s")


if __name__ == "__main__":
    main()
