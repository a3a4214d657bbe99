"""A run killed at random moments and resumed equals an unbroken one.

``scripts/soak kill [--count N] [--categories K] [--seed S] [--record]``: N kills by SIGKILL (default 20), spread over
a run of the first K categories (default all). Checks that no finished level is repeated, that the event log is whole,
that all summaries equal those of an unbroken run but for times, and that nothing is left running.
"""

from __future__ import annotations

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.soak.common import (
    SCRATCH,
    begin_or_resume,
    conclude,
    cut_curriculum,
    existing_run,
    gate_parser,
    read,
    run,
)

TIMES = ("run_id", "elapsed_min", "durations", "usage")
HOME = SCRATCH / "kill"
STARTUP_EVERY = 5
"""Every how many kills one falls into the start of the process rather than between levels."""


def unbroken(curriculum: Path) -> tuple[Path, float]:
    """A run that nobody disturbs, and its seconds."""
    started = time.monotonic()
    run("--quiet", "--curriculum", str(curriculum), "--runs", str(HOME / "a"), "--workspace", str(HOME / "wa"))
    return existing_run(HOME / "a"), time.monotonic() - started


def wait_for_level(runs: Path, process: subprocess.Popen[bytes]) -> None:
    """Until a level has begun since the call, or the process has ended."""
    before = _begun(runs)
    while _begun(runs) == before and process.poll() is None:
        time.sleep(0.02)


def _begun(runs: Path) -> int:
    return sum(path.read_bytes().count(b'"event": "level_start"') for path in runs.glob("*/metrics.jsonl"))


def broken(
    runs: Path, curriculum: Path, kills: int, pause: float, rng: random.Random, killed: list[int]
) -> tuple[Path, int]:
    """The same run below ``runs``, killed up to ``kills`` times on the way, and how often it was.

    A kill comes 0.2 to 1.8 times ``pause`` seconds after the first new level has begun, every fifth one after the start
    of the process; a run that is done before it has had its kills ends there. ``killed`` collects process ids.
    """
    new = ("--curriculum", str(curriculum), "--workspace", str(HOME / "wb"))
    done = 0
    while True:
        process = begin_or_resume(runs, *new)
        try:
            if done < kills and done % STARTUP_EVERY:
                wait_for_level(runs, process)
            code = process.wait(timeout=rng.uniform(0.2, 1.8) * pause if done < kills else None)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            killed.append(process.pid)
            done += 1
            continue
        if code != 0:
            raise RuntimeError(f"a resumed run ended with exit code {code}")
        return existing_run(runs), done


def differences(a: Path, b: Path) -> list[str]:
    """What the folder of the killed run has that the unbroken one has not, or has otherwise."""
    found = []
    left, right = _timeless(read(a / "summary.json")), _timeless(read(b / "summary.json"))
    if left != right:
        found.append("summary.json differs")
    found_in = (map(read, run.glob("summaries/summary_*.json")) for run in (a, b))
    summaries = [sorted(each, key=lambda s: int(s["index"])) for each in found_in]
    if [_timeless(s) for s in summaries[0]] != [_timeless(s) for s in summaries[1]]:
        found.append("level summaries differ")
    events = [json.loads(line) for line in (b / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    finished = [e["index"] for e in events if e["event"] == "level_summary"]
    if finished != list(range(1, len(summaries[0]) + 1)):
        found.append(f"finished levels in the log: {finished}")
    if read(a / "state/state.json")["writers"] != read(b / "state/state.json")["writers"]:
        found.append("the writers differ")
    kept = (*a.glob("agents/*agent_v*.py"), *a.glob("pddl/**/*.*"), *a.glob("trajectories/*"))
    for name in sorted(str(p.relative_to(a)) for p in kept):
        if (a / name).read_bytes() != (b / name).read_bytes():
            found.append(f"{name} differs")
    return found


def leftovers(killed: list[int]) -> list[str]:
    """Processes that name this test's folders, and solver processes whose host was killed, two seconds later."""
    time.sleep(2.0)
    shown = subprocess.run(["ps", "-eo", "pid,args"], capture_output=True, text=True, check=True).stdout
    solvers = {f"spca.plan.worker {pid}" for pid in killed}
    return [line for line in shown.splitlines() if str(HOME) in line or any(line.endswith(s) for s in solvers)]


def _timeless(summary: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in summary.items() if key not in TIMES}


def main() -> int:
    """Run the gate; 1 when anything differs."""
    parser = gate_parser("kill", __doc__)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--categories", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    shutil.rmtree(HOME, ignore_errors=True)
    curriculum = cut_curriculum(HOME / "curriculum.json", options.categories)
    a, seconds = unbroken(curriculum)
    rng, kills, runs, found, killed = random.Random(options.seed), 0, 0, list[str](), list[int]()
    pause = seconds / (options.count + 1)
    while kills < options.count:
        runs += 1
        b, more = broken(HOME / f"b{runs}", curriculum, options.count - kills, pause, rng, killed)
        kills += more
        found += differences(a, b)
    found += [f"still running: {line}" for line in leftovers(killed)]
    levels = read(a / "summary.json")["levels"]
    begun = sum(_begun(HOME / f"b{n}") for n in range(1, runs + 1)) - levels * runs
    text = (
        f"{kills} kills and {kills} resumes over {runs} run(s) of {levels} levels, "
        f"{begun} kills in the middle of a level; differences from the unbroken run: {len(found)}"
    )
    flags = f"--count {options.count} --categories {options.categories} --seed {options.seed}"
    return conclude("kill", "Kill and resume", flags, text, found, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
