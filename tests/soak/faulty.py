"""Four categories under the faulty model: every level ends in success, every repair path is used.

``scripts/soak faulty [--count N] [--record]``: N seeds, beginning with 1 (default 3).

``scripts/soak faulty --only profiles [--checkout DIR] [--record]``: what models cost that never answer usably, of each
kind and in either role; both roles are asked of ``openai/gpt-6.1-sol`` at a server on loopback, so that the ledger has
its prices. ``--checkout`` plays them with the ``main.py`` of another checkout, to compare with.

``scripts/soak faulty --only halves [--count N] [--checkout DIR]``: N seeds with half of all answers from such models,
at most six in a row in a role: every level has to be solved.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spca.llm.providers.base import Finish
from spca.llm.providers.offline.faulty import UNUSABLE, unusable_answer
from tests.fakes.answers import Answer, Heard
from tests.fakes.reference_server import ReferenceServer
from tests.soak.common import (
    ROOT,
    SCRATCH,
    cut_curriculum,
    environment,
    existing_run,
    gate_parser,
    read,
    record,
    run,
)

CATEGORIES = ("goal_navigation", "pickup_only", "open_door", "memory_ordering")
PATHS = (
    "planner_fresh",
    "planner_reuse",
    "planner_replan",
    "planner_syntax",
    "coder_first",
    "coder_semantic",
    "coder_syntax",
    "planner_compiled",
    "writer_accepted",
    "writer_rejected",
    "compiled_failed",
)


def solve(seed: int) -> dict[str, Any]:
    """The summary of a run with the faulty models."""
    home = SCRATCH / "faulty" / str(seed)
    shutil.rmtree(home, ignore_errors=True)
    curriculum = cut_curriculum(home / "curriculum.json", CATEGORIES)
    models = [("--planner-model", "planner"), ("--planner-small-model", "planner"), ("--coder-model", "coder")]
    flags = [text for flag, half in models for text in (flag, f"faulty/{half}")]
    where = ("--runs", str(home / "runs"), "--workspace", str(home / "workspace"), "--curriculum", str(curriculum))
    run("--seed", str(seed), "--quiet", *flags, *where)
    summary: dict[str, Any] = read(existing_run(home / "runs") / "summary.json")
    return summary


MODEL = "openai/gpt-6.1-sol"
ROLES = ("planner", "coder")
BEFORE = {
    ("planner", "prose"): (504, 0.30),
    ("planner", "rambling"): (504, 0.39),
    ("planner", "broken-json"): (504, 0.37),
    ("planner", "same-pddl"): (504, 0.56),
    ("planner", "empty"): (504, 0.13),
    ("planner", "cut-off"): (504, 0.37),
    ("coder", "prose"): (5994, 5.00),
    ("coder", "rambling"): (4228, 5.00),
    ("coder", "broken-json"): (5207, 5.00),
    ("coder", "same-pddl"): (3945, 5.00),
    ("coder", "empty"): (9732, 5.00),
    ("coder", "cut-off"): (5245, 5.00),
}
"""Requests and USD by role and kind, before runs paused."""


class UnusableServer(ReferenceServer):
    """Gives some answers so that they cannot be used.

    Args:
        kind: one of :data:`UNUSABLE`.
        roles: in which it does.
        share: of their answers, drawn from ``seed``.
        longest: row of such answers in a role; None for no limit.
    """

    def __init__(self, kind: str, *roles: str, share: float = 1.0, seed: int = 0, longest: int | None = None) -> None:
        super().__init__()
        self._kind = kind
        self._roles = roles
        self._share = share
        self._drawn = random.Random(seed)
        self._longest = longest
        self._row = dict.fromkeys(roles, 0)
        self._answers = 0

    def answer_to(self, heard: Heard) -> Answer:
        """What the model says."""
        good = super().answer_to(heard)
        role = "coder" if heard.form == "text" else "planner"
        if role not in self._roles:
            return good
        if self._drawn.random() >= self._share or self._row[role] == self._longest:
            self._row[role] = 0
            return good
        self._row[role] += 1
        self._answers += 1
        said = unusable_answer(self._kind, good.text, self._answers)
        return Answer(said.text, ended="length" if said.finish is Finish.LENGTH else "stop")


@dataclass(frozen=True, slots=True)
class Spent:
    """What a run with such a model took, and its exit code."""

    kind: str
    role: str
    code: int
    finished: int
    requests: int
    usd: float

    @property
    def row(self) -> str:
        """A row of the table of figures."""
        return f"| {self.kind} | {self.role} | {self.code} | {self.finished} | {self.requests} | {self.usd:.2f} |"


def play(name: str, server: UnusableServer, checkout: Path, *flags: str) -> tuple[int, dict[str, Any]]:
    """Play the levels with a served model until the run ends; return its exit code and its summary."""
    home = SCRATCH / "faulty" / name
    shutil.rmtree(home, ignore_errors=True)
    curriculum = cut_curriculum(home / "curriculum.json", CATEGORIES)
    where = ("--runs", str(home / "runs"), "--workspace", str(home / "workspace"), "--curriculum", str(curriculum))
    models = [text for each in ("planner", "planner-small", "coder") for text in (f"--{each}-model", MODEL)]
    with server:
        line = [sys.executable, str(checkout / "main.py"), "--quiet", *where, *models, *flags]
        line += ["--base-url", server.base_url]
        done = subprocess.run(line, env=environment(), capture_output=True, check=False)
    return done.returncode, read(existing_run(home / "runs") / "summary.json")


def spend(kind: str, role: str, checkout: Path) -> Spent:
    """Play the levels with a model that never answers usably in a role, until the run ends."""
    code, summary = play(f"{kind}-{role}", UnusableServer(kind, role), checkout)
    usage = summary["usage"]
    return Spent(kind, role, code, summary["finished"], usage["requests"], usage["cost_usd"])


def play_halves(seeds: int, checkout: Path) -> int:
    """Play with models of which half of the answers cannot be used; 1 when a level was not solved."""
    failed = 0
    for seed in range(1, seeds + 1):
        for kind in UNUSABLE:
            server = UnusableServer(kind, *ROLES, share=0.5, seed=seed, longest=6)
            _, summary = play(f"half-{kind}-{seed}", server, checkout, "--no-compile")
            solved, levels = summary["solved"], summary["levels"]
            print(f"half of the answers {kind}, seed {seed}: {solved} of {levels}", flush=True)
            failed += solved != levels
    return 1 if failed else 0


def excess(spent: Spent) -> str:
    """Return what is wrong with a run that should have paused, "" if it cost at most a tenth of what it did before."""
    requests, usd = BEFORE[spent.role, spent.kind]
    is_cheap = 10 * spent.requests <= requests and 10 * spent.usd <= usd
    return "" if spent.code == 3 and is_cheap else f"{spent.row} instead of a tenth of {requests}, {usd:.2f} USD"


def play_profiles(checkout: Path, *, is_recorded: bool) -> int:
    """Measure models that never answer usably; 1 when one costs more than it may."""
    lines = ["| role | kind | before: requests | USD | now: levels | requests | USD |", f"|{'---|' * 7}"]
    spent = [spend(kind, role, checkout) for role in ROLES for kind in UNUSABLE]
    for each in spent:
        requests, usd = BEFORE[each.role, each.kind]
        now = f"{each.finished} | {each.requests} | {each.usd:.2f}"
        lines.append(f"| {each.role} | {each.kind} | {requests} | {usd:.2f} | {now} |")
    wrong = list(filter(None, map(excess, spent)))
    text = "\n".join(lines)
    print("\n".join([text, *wrong, f"{len(wrong)} wrong"]))
    if is_recorded:
        record("faulty", "Models that never answer usably", "--only profiles", _NOTE, text, *wrong, part="profiles")
    return 1 if wrong else 0


_NOTE = (
    "56 levels, one role asked of a model that never answers usably, the other of the reference model; both served as "
    "`openai/gpt-6.1-sol`, and priced by the ledger as that. A run may cost 5 USD (the default). Before: commit "
    "`e6b8af13`, by `--checkout DIR`, which ended at that cap where it reached it."
)


def main() -> int:
    """Run the gate; 1 when a level failed, a repair path was not used or a model cost too much."""
    parser = gate_parser("faulty", __doc__)
    parser.add_argument("--count", type=int, default=3)
    parts = "models that never answer usably, or half of the time"
    parser.add_argument("--only", choices=["profiles", "halves"], help=parts)
    parser.add_argument("--checkout", type=Path, default=ROOT, metavar="DIR", help="whose main.py plays these")
    options = parser.parse_args()
    if options.only == "halves":
        return play_halves(options.count, options.checkout)
    if options.only:
        return play_profiles(options.checkout, is_recorded=options.record)
    lines = [f"| seed | solved | {' | '.join(PATHS)} |", "|---" * (len(PATHS) + 2) + "|"]
    bad = 0
    for seed in range(1, options.count + 1):
        summary = solve(seed)
        used = [summary["counters"][path] for path in PATHS]
        lines.append(f"| {seed} | {summary['solved']} of {summary['levels']} | {' | '.join(map(str, used))} |")
        lines += [f"- seed {seed}, {f['level_name']}: {f['reason'].splitlines()[0]}" for f in summary["failures"]]
        bad += summary["solved"] != summary["levels"] or not all(used)
    text = "\n".join(lines)
    print(text)
    if options.record:
        note = f"; categories {', '.join(CATEGORIES)}"
        record("faulty", "Faulty model", f"--count {options.count}", text, note=note)
    print(f"{options.count - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
