"""A run that is killed during its calls of a model never pays twice for a call that was finished.

``scripts/soak paid-once [--count N] [--stall S] [--seed S] [--record]``: N kills by SIGKILL (default 50), each while a
request is with the server or while its answer is being written down, over a few runs that are resumed each time. The
server's own log tells what was paid for: every question once, and once more for each request whose answer was still on
its way. All requests are in the ledger, and the results are those of an unbroken run.
"""

from __future__ import annotations

import random
import shutil
import sys
import time
from collections import Counter
from pathlib import Path

from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.soak.common import SCRATCH, begin_or_resume, conclude, cut_curriculum, existing_run, gate_parser, run
from tests.support.spca.served import CHAT, book, calls, imbalance, model_flags, results

HOME = SCRATCH / "paid_once"
CATEGORIES = ("goal_navigation", "pickup_only")
WRITING_S = 0.1
"""Seconds after an answer within which it is written down: some kills fall there."""


def broken(name: str, flags: list[str], server: ReferenceServer, kills: int, rng: random.Random) -> tuple[Path, int]:
    """A run killed up to ``kills`` times, each a random while after the server has heard a request."""
    runs, done = HOME / name / "runs", 0
    while True:
        process = begin_or_resume(runs, *flags, "--workspace", str(HOME / name / "workspace"))
        heard = len(server.asked) + rng.choice((1, 1, 2, 3))
        while len(server.asked) < heard and process.poll() is None:
            time.sleep(0.002)
        if done < kills and process.poll() is None:
            time.sleep(rng.uniform(0, server.settings.stall + WRITING_S))
            process.kill()
        code = process.wait()
        if code == 0:
            return existing_run(runs), done
        if code != -9:
            raise RuntimeError(f"a resumed run ended with exit code {code}")
        done += 1


def paid_twice(run: Path, asked: list[Line]) -> list[str]:
    """Questions that the server answered more often than the run asked them and lost their answers."""
    found = []
    records = book(run)
    finished = Counter((r["key"], _occurrence(r["transcript"])) for r in records if r["outcome"] == "answered")
    found += [f"call {key[:8]} was finished {count} times" for (key, _), count in finished.items() if count > 1]
    lost = Counter(line.sha256 for line, r in zip(asked, records, strict=False) if r["outcome"] == "unknown")
    paid = Counter(line.sha256 for line in asked)
    wanted = Counter(line.sha256 for line, r in zip(asked, records, strict=False) if r["outcome"] == "answered")
    found += [f"{sha[:8]} was sent {n} times" for sha, n in paid.items() if n != wanted[sha] + lost[sha]]
    return found


def _occurrence(transcript: str) -> str:
    return transcript.removesuffix(".json").rpartition("-")[2]


def outcomes(run: Path) -> Counter[str]:
    return Counter(record["outcome"] for record in book(run))


def main() -> int:
    """Run the gate; 1 when anything was paid twice or is missing in the ledger."""
    parser = gate_parser("paid-once", __doc__)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--stall", type=float, default=0.15, help="seconds that the server takes for an answer")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    options = parser.parse_args()
    shutil.rmtree(HOME, ignore_errors=True)
    curriculum = cut_curriculum(HOME / "curriculum.json", CATEGORIES)
    flags = ["--curriculum", str(curriculum), *model_flags(CHAT)]
    rng, kills, runs, found, total = random.Random(options.seed), 0, 0, list[str](), Counter[str]()
    embedded = ("--quiet", "--curriculum", str(curriculum), "--runs", str(HOME / "a" / "runs"))
    run(*embedded, "--workspace", str(HOME / "a" / "workspace"))
    unbroken = existing_run(HOME / "a" / "runs")
    while kills < options.count:
        runs += 1
        with ReferenceServer(Settings(stall=options.stall)) as server:
            to_server = [*flags, "--base-url", server.base_url]
            there, more = broken(f"b{runs}", to_server, server, options.count - kills, rng)
            found += imbalance(there, server.asked) + paid_twice(there, server.asked)
            found += ["the results differ"] * (results(there) != results(unbroken))
            found += ["the calls differ"] * (calls(there) != calls(unbroken))
            kills += more
            total += outcomes(there)
    text = (
        f"{kills} kills over {runs} run(s): {total['answered']} calls finished, {total['unknown']} requests in flight "
        f"and in the ledger as unknown; paid twice or out of balance: {len(found)}"
    )
    work = f"--count {options.count} --stall {options.stall:g} --seed {options.seed}"
    return conclude("paid-once", "Paid once", work, text, found, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
