"""A curriculum of thousands of levels: does a level cost more at the end than at the beginning?

``scripts/soak size [--count N] [--fresh]`` learns N levels with the embedded model: every id of the shipped curriculum
with seed 1, then every id with seed 2, and so on, so that each tenth holds the same mixture. It compares the first with
the last tenth, and times ``report --no-page``, ``query`` and ``--resume`` of the run. The same command goes on with an
interrupted run.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from tests.soak.common import (
    ROOT,
    SCRATCH,
    begin_or_resume,
    command,
    conclude,
    environment,
    existing_run,
    gate_parser,
    read,
    resumable,
)

HOME = SCRATCH / "size"
MAX_TIME_RATIO = 1.2
MAX_MEMORY_RATIO = 1.5
MIN_JUDGED = 1500
"""Least number of levels whose ratios are judged: with fewer, the tenths do not hold the same mixture."""
MAX_COMMAND_S = 20.0
"""Most seconds of the processor for a command that looks at the run or resumes it."""
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_TICKS = os.sysconf("SC_CLK_TCK")


class Sample(NamedTuple):
    """What the process of the run used at a time: memory in MB and seconds of the processor."""

    time: float
    rss: float
    cpu: float


class Tenth(NamedTuple):
    """Means of a tenth of the levels; the memory is the largest."""

    seconds: float
    cpu: float
    rss: float


def write_curriculum(path: Path, count: int) -> int:
    """Write ``count`` levels: every id of the shipped curriculum with seed 1, then with seed 2, ...; return their
    number."""
    shipped = read(ROOT / "merged_curriculum2.json")
    ids = dict.fromkeys(name for category in shipped for level in category["levels"] for name in level["configs"])
    configs = [{"id": name, "seed": seed} for seed in range(1, 2 + count // len(ids)) for name in ids]
    category = {"category_name": "everything", "skill": "Do what the mission says"}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps([category | {"levels": [{"name": "all", "configs": configs[:count]}]}]))
    return min(count, len(configs))


def take_sample(process: int) -> Sample:
    """Return what a process uses now."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    ticks = int(fields[11]) + int(fields[12])  # in user mode and in the kernel
    return Sample(time.time(), pages * _PAGE_BYTES / 1e6, ticks / _TICKS)


def learn(curriculum: Path) -> None:
    """Play the levels to the end, and note what the process uses every half second."""
    new = ("--curriculum", str(curriculum), "--workspace", str(HOME / "workspace"))
    process = begin_or_resume(HOME / "runs", *new)
    with (HOME / "samples.jsonl").open("a", encoding="utf-8") as samples:
        while process.poll() is None:
            try:
                samples.write(json.dumps(take_sample(process.pid)) + "\n")
            except OSError:  # the process has just ended
                break
            time.sleep(0.5)
    if code := process.wait():
        raise SystemExit(f"the run ended with exit code {code}")


def read_ends(run: Path) -> list[float]:
    """Return the times at which the levels ended, in order.

    Levels that were begun again are left out, because nobody worked in between.
    """
    begun: Counter[int] = Counter()
    ends: dict[int, float] = {}
    for event in _read_events(run / "metrics.jsonl"):
        if event["event"] == "level_start":
            begun[event["index"]] += 1
        elif event["event"] == "level_summary":
            ends[event["index"]] = event["time"]
    return [end for index, end in ends.items() if begun[index] == 1]


def _read_events(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as log:
        for line in log:
            if '"level_s' in line[:40]:
                yield json.loads(line)


def measure_tenth(ends: list[float], samples: list[Sample]) -> Tenth:
    """Return what a level cost, from the times at which some levels in a row ended.

    A level begins when the one before it ends. The samples before and after them are used too, because a few levels
    may end between two samples.
    """
    times = [sample.time for sample in samples]
    before = max(0, min(bisect_right(times, ends[0]) - 1, len(samples) - 2))
    after = bisect_left(times, ends[-1], lo=before + 1)
    within = samples[before : after + 1]
    cpu = (within[-1].cpu - within[0].cpu) / (within[-1].time - within[0].time)
    seconds = fmean(later - earlier for earlier, later in pairwise(ends))
    return Tenth(seconds, cpu * seconds, max(sample.rss for sample in within))


class Used(NamedTuple):
    """Seconds that a command took, seconds of the processor, and its largest memory in MB."""

    seconds: float
    cpu: float
    rss: float


def time_command(*arguments: str) -> Used:
    """Run a command; return what it used."""
    started = time.monotonic()
    process = subprocess.Popen(command(*arguments), env=environment(), stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with exit code {process.returncode}")
    return Used(time.monotonic() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1e3)


def main() -> int:
    """Run the gate; 1 if a level at the end costs more than the bounds allow."""
    parser = gate_parser("size", __doc__)
    parser.add_argument("--count", type=int, default=10_000, help="levels")
    parser.add_argument("--fresh", action="store_true", help="begin anew")
    options = parser.parse_args()
    marker = HOME / "count"
    if options.fresh or not marker.is_file() or marker.read_text() != str(options.count):
        shutil.rmtree(HOME, ignore_errors=True)
    count = write_curriculum(HOME / "curriculum.json", options.count)
    marker.write_text(str(options.count))

    learn(HOME / "curriculum.json")
    run = existing_run(HOME / "runs")
    summary = read(run / "summary.json")
    samples = [Sample(*json.loads(line)) for line in (HOME / "samples.jsonl").read_text().splitlines()]
    ends = read_ends(run)
    tenth = max(2, len(ends) // 10)
    first = measure_tenth(ends[:tenth], samples)
    last = measure_tenth(ends[-tenth:], samples)

    runs = ("--runs", str(HOME / "runs"))
    timed = {
        "`report --no-page`": time_command("report", str(run), "--no-page"),
        "`query` of levels": time_command("query", str(run), "SELECT outcome, count(*) FROM levels GROUP BY ALL"),
        "`query` of steps": time_command("query", str(run), "SELECT primitive, count(*) FROM steps GROUP BY ALL"),
        "`--resume` of the finished run": time_command("--quiet", "--resume", run.name, *runs),
    }

    wrong: list[str] = []
    if summary["finished"] != count:
        wrong.append(f"{summary['finished']} of {count} levels are finished")
    time_ratio = last.seconds / first.seconds
    memory_ratio = last.rss / first.rss
    if count >= MIN_JUDGED and time_ratio > MAX_TIME_RATIO:
        wrong.append(f"a level of the last tenth takes {time_ratio:.2f} times as long as one of the first")
    if count >= MIN_JUDGED and memory_ratio > MAX_MEMORY_RATIO:
        wrong.append(f"the last tenth takes {memory_ratio:.2f} times the memory of the first")
    wrong += [
        f"{name} takes {used.cpu:.1f} s of the processor" for name, used in timed.items() if used.cpu > MAX_COMMAND_S
    ]

    rows = [
        "| | first tenth | last tenth | ratio |",
        "|---|---|---|---|",
        f"| seconds a level | {first.seconds:.3f} | {last.seconds:.3f} | {time_ratio:.2f} |",
        f"| of them, seconds of the run's process | {first.cpu:.3f} | {last.cpu:.3f} | {last.cpu / first.cpu:.2f} |",
        f"| memory of that process | {first.rss:.0f} MB | {last.rss:.0f} MB | {memory_ratio:.2f} |",
    ]
    commands = ["| afterwards | seconds | of the processor | memory |", "|---|---|---|---|"]
    for name, used in timed.items():
        commands.append(f"| {name} | {used.seconds:.1f} | {used.cpu:.1f} | {used.rss:.0f} MB |")
    solved = f"{summary['solved']} of {summary['levels']} levels solved."
    text = "\n".join([*rows, "", solved, "", *commands])
    return conclude("size", "Size", f"--count {options.count}", text, wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(resumable(main))
