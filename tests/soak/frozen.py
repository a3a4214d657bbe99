"""What the embedded model has learned, frozen, on many unseen seeds; kills and more workers change nothing.

``scripts/soak frozen [--count N] [--seeds A:B] [--slice A:B] [--record]``: learns the curriculum once, plays all its
ids on the seeds (default 1000:1100) beside the bot of BabyAI, then the slice (default 2000:2002) with one worker, with
two, and killed N times with SIGKILL (default 10). What is finished is kept: the same command goes on. Fails if a slice
differs, if less than 99.8 % of all episodes or 99 % of a category succeed at the first attempt, or if a failure is
undecided.
"""

from __future__ import annotations

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
    command,
    conclude,
    environment,
    existing_run,
    gate_parser,
    read,
    resumable,
)

HOME = SCRATCH / "frozen"
POOLED, OF_A_CATEGORY = 0.998, 0.99


def learned() -> Path:
    """The run whose library is frozen; it is learned, or gone on with, unless it is finished."""
    summaries = map(read, (HOME / "runs").glob("*/summary.json"))
    if not any(summary["finished"] == summary["levels"] for summary in summaries):
        begin_or_resume(HOME / "runs", "--workspace", str(HOME / "workspace")).wait()
    return existing_run(HOME / "runs")


def begun(name: str, run: Path, *flags: str) -> subprocess.Popen[bytes]:
    """The command as a process that goes on with the evaluation below this folder, or begins it."""
    found = sorted((HOME / name).glob("*/evaluation.json"))
    new = ("--agent", str(run), *(flag for flag in flags if not flag.startswith("--workers")))
    workers = (flag for flag in flags if flag.startswith("--workers"))
    chosen = ("--resume", found[-1].parent.name) if found else new
    line = command("evaluate", "--quiet", *chosen, *workers, "--runs", str(HOME / name))
    return subprocess.Popen(line, env=environment(), stdout=subprocess.DEVNULL)


def evaluated(name: str, run: Path, *flags: str) -> Path:
    """The folder of such an evaluation once it is finished."""
    if code := begun(name, run, *flags).wait():
        raise RuntimeError(f"the evaluation {name} ended with exit code {code}")
    (found,) = (HOME / name).glob("*/summary.json")
    return found.parent


def killed(run: Path, kills: int, seconds: float, *flags: str) -> tuple[Path, int]:
    """The folder of an evaluation killed up to ``kills`` times on its way, and how often it was."""
    rng, done = random.Random(0), 0
    while done < kills:
        process = begun("killed", run, *flags)
        try:
            process.wait(timeout=rng.uniform(0.1, 1.9) * seconds / kills)
            break
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            done += 1
    return evaluated("killed", run, *flags), done


def timeless(path: Path) -> list[str]:
    """Lines of a file of episodes but for their seconds."""
    return [line.rpartition(', "seconds"')[0] for line in path.read_text(encoding="utf-8").splitlines()]


def differences(a: Path, b: Path) -> list[str]:
    """Files of two evaluations that differ in more than durations."""
    names = ("episodes.jsonl", "proofs.jsonl", "bot.jsonl")
    found = [name for name in names if timeless(a / name) != timeless(b / name)]
    return found + ["summary.json"] * ((a / "summary.json").read_bytes() != (b / "summary.json").read_bytes())


def missed(summary: dict[str, Any]) -> list[str]:
    """Which shares are too small, and failures of which nothing is proven."""
    block = summary["curriculum"]
    rates = {"pooled": (block["pooled"], POOLED)} | {
        each["name"]: (each, OF_A_CATEGORY) for each in block["categories"]
    }
    found = [
        f"{name}: {row['pass1']['rate']:.4f}" for name, (row, least) in rates.items() if row["pass1"]["rate"] < least
    ]
    return found + [f"{each['replay']}: undecided" for each in summary["failed"] if each["proof"] == "undecided"]


def told(summary: dict[str, Any]) -> list[str]:
    """Figures of the large evaluation."""
    block, bot = summary["curriculum"], summary["bot"]
    pooled, interval, steps, pairs = block["pooled"], block["interval"], bot["interval"], bot["pooled"]
    worst = min(block["categories"], key=lambda row: row["pass1"]["rate"])
    share = f"{100 * interval['value']:.2f} % (95 %, clustered by id: {_between(interval, 100, 2)})"
    planners = ", ".join(f"{name} {count:,}" for name, count in summary["planners"].items())
    proofs = ", ".join(f"{each['replay']} {each['proof']}" for each in summary["failed"]) or "none"
    ratio = f"{steps['value']:.3f} of the bot's steps (95 %, clustered by id: {_between(steps, 1, 3)})"
    others = f"only we {pairs['ours_only']:,}, only the bot {pairs['bots_only']:,}, neither {pairs['neither']:,}"
    return [
        f"{pooled['pass1']['good']:,} of {pooled['pass1']['total']:,} episodes at the first attempt, {share}, no model "
        f"paid; the worst category is {worst['name']}, {100 * worst['pass1']['rate']:.2f} %. First plans: {planners}.",
        f"Failures and what is proven of them: {proofs}. Left out as unsolvable: {pooled['unsolvable']}.",
        f"{ratio} over the {pairs['both']:,} that both solve; {others}; {bot['unsupported']:,} the bot cannot play.",
    ]


def _between(interval: dict[str, float], times: int, digits: int) -> str:
    return f"{times * interval['low']:.{digits}f} to {times * interval['high']:.{digits}f}"


def main() -> int:
    """Run the gate; 1 when anything is wrong."""
    parser = gate_parser("frozen", __doc__)
    parser.add_argument("--count", type=int, default=10, help="kills")
    parser.add_argument("--seeds", default="1000:1100")
    parser.add_argument("--slice", default="2000:2002")
    options = parser.parse_args()
    run, name = learned(), f"seeds-{options.seeds.replace(':', '-')}"
    large = read(evaluated(name, run, "--seeds", options.seeds, "--versus=bot") / "summary.json")
    for name in ("one", "two", "killed"):
        shutil.rmtree(HOME / name, ignore_errors=True)
    flags = ("--seeds", options.slice, "--versus=bot")
    one = evaluated("one", run, *flags, "--workers=1")
    started = time.monotonic()
    two = evaluated("two", run, *flags, "--workers=2")
    broken, kills = killed(run, options.count, time.monotonic() - started, *flags, "--workers=2")
    wrong = missed(large)
    wrong += [f"one and two workers: {name}" for name in differences(one, two)]
    wrong += [f"killed: {name}" for name in differences(two, broken)]
    played = read(two / "summary.json")["episodes"]
    same = f"{played} episodes with one worker, with two, and over {kills} kills and resumes: the same files."
    shown = f"--count {options.count} --seeds {options.seeds} --slice {options.slice}"
    return conclude(
        "frozen", "Frozen evaluation", shown, "\n\n".join([*told(large), same]), wrong, is_recorded=options.record
    )


if __name__ == "__main__":
    sys.exit(resumable(main))
