"""Every attack against the sandbox, as root and as user 65534, in agents and in problem writers; killed episodes.

``scripts/soak redteam [--count N] [--record]``: N killed episodes for each user (default 500). One line for each
attack: whether the sandbox held, how long its worker lived, what the attack does without a sandbox. ``--only NAME,...``
leaves the other attacks out, ``--once`` the second user. Then hostile problem writers play beside four good ones, which
must plan, ask and end as without them. Every policy is left out. The attacks and the killed episodes also come with the
body of a plugin, a vending machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path

from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.redteam.attack import Attack, Sign
from tests.redteam.bait import Bait
from tests.redteam.given import GIVEN
from tests.redteam.harness import BareHost, SandboxedHost, Verdict, WriterHost
from tests.redteam.judging import refusals
from tests.redteam.killed import LIMITS, sources
from tests.redteam.own import OWN
from tests.redteam.writers import HOSTILE
from tests.soak.common import gate_parser, record
from tests.support.writers.seasons import GUEST, VERBS, harm_done, play_season, without_policy, writer_for

_FIGURES = "figures: "
_PATIENCE = 0.6
_DURING = "no yield for"


@dataclass(frozen=True, slots=True)
class Figures:
    """What came of a session as one user.

    Attributes:
        as_writers: escapes of the same attacks, made by problem writers.
        as_machines: escapes of the same attacks by an agent with the body of a plugin.
        hostile: writers that played beside good ones, of which ``spoiled`` changed what became of those.
        slowest: the longest time from a violation to its worker's death.
    """

    user: int
    attacks: int
    escapes: int
    as_writers: int
    as_machines: int
    hostile: int
    spoiled: int
    controls: int
    unseen: int
    refused: int
    slowest: float
    killed: int
    left: int
    seconds: float

    @property
    def failed(self) -> bool:
        escapes = self.escapes + self.as_writers + self.as_machines
        return bool(escapes or self.spoiled or self.unseen or self.left)


def chosen(only: str) -> tuple[Attack, ...]:
    """All attacks, or those named.

    Raises:
        SystemExit: a name that there is not.
    """
    attacks = (*GIVEN, *OWN)
    names = set(filter(None, only.split(",")))
    if unknown := names - {attack.name for attack in attacks}:
        sys.exit(f"no such attack: {', '.join(sorted(unknown))}")
    return tuple(attack for attack in attacks if not names or attack.name in names)


def session(attacks: Sequence[Attack], kills: int, hostile: Mapping[str, str]) -> Figures:
    """Judge every attack as the user that this process is."""
    started = time.monotonic()
    with BareHost() as bare, SandboxedHost() as sandboxed, ThreadPoolExecutor(1) as aside:
        controls = aside.map(lambda attack: bare.signs(attack, _PATIENCE), attacks)
        verdicts = []
        for attack in attacks:
            verdicts.append(sandboxed.judge(attack))
            _tell(verdicts[-1])
        shown = list(controls)
    unseen = [a for a, signs in zip(attacks, shown, strict=True) if not signs and not _beyond(a)]
    for attack in unseen:
        print(f"NO CONTROL  {attack.name}: nothing seen of {', '.join(attack.control.signs)}")
    with WriterHost() as writing:
        as_writers = count_escaped(writing, attacks, "a problem writer")
    with SandboxedHost(stage="machine") as machine:
        as_machines = count_escaped(machine, attacks, "a machine")
    spoiled = count_spoiled_seasons(hostile)
    left = [*leftovers(kills), *leftovers(kills, "machine")]
    for words in left:
        print(f"LEFT BEHIND {words}")
    limit = Limits().first_yield_seconds
    return Figures(
        os.geteuid(),
        len(attacks),
        sum(bool(verdict.escaped) for verdict in verdicts),
        as_writers,
        as_machines,
        len(hostile),
        spoiled,
        sum(_proves(signs) for signs in shown),
        len(unseen),
        refused(attacks),
        max((v.seconds - limit for v in verdicts if _DURING in v.end), default=0.0),
        kills,
        len(left),
        time.monotonic() - started,
    )


def count_escaped(host: SandboxedHost, attacks: Sequence[Attack], by: str) -> int:
    """Judge every attack once more, made by another attacker; return how many escape.

    Args:
        by: the attacker in words. A problem writer has left its namespace already.
    """
    verdicts = [host.judge(attack) for attack in attacks]
    for verdict in verdicts:
        if verdict.escaped:
            _tell(verdict, f"as {by}: ")
    escaped = sum(bool(verdict.escaped) for verdict in verdicts)
    print(f"{len(attacks)} attacks as {by}: {escaped} escaped", flush=True)
    return escaped


def count_spoiled_seasons(hostile: Mapping[str, str]) -> int:
    """Return how many hostile writers change what becomes of four good ones, in 50 levels and 150 episodes."""
    if not hostile:
        return 0
    spoiled, lost, started = 0, 0, time.monotonic()
    with SandboxExecutor() as executor, without_policy():
        benign = play_season(executor, writer_for(VERBS[GUEST]))
        for name, source in hostile.items():
            found = play_season(executor, source)
            lost = max(lost, found.attempts_lost)
            if harm := harm_done(found, benign):
                spoiled += 1
                print(f"SPOILED writer   {name}: {harm}", flush=True)
    seconds = (time.monotonic() - started) / (len(hostile) + 1)
    print(
        f"{len(hostile)} hostile writers beside good ones, {seconds:.1f} s each: "
        f"{spoiled} spoiled, at most {lost} attempts lost"
    )
    return spoiled


def refused(attacks: Sequence[Attack]) -> int:
    """How many attacks the static policy tells a coder about; the sandbox holds the others as well."""
    with Bait() as bait:
        return sum(bool(refusals(bait.fill(a.source).replace("@HPID@", "1"))) for a in attacks)


def leftovers(count: int, stage: str = "grid") -> Iterator[str]:
    """What is left after ``count`` episodes that end by violence, in words."""
    if not count:
        return
    with SandboxedHost(LIMITS, stage=stage) as host:
        report = host.kills(list(sources(count)), 60 + count)
    yield from report["unlike"]
    if report["benign"]:
        yield f"harmless code afterwards: {report['benign']}"
    yield from (f"process {pid}" for pid in report["zygotes"] if Path(f"/proc/{pid}").exists())
    print(f"{count} episodes of the {stage} ended by violence: {report['ends']}")


def _tell(verdict: Verdict, by: str = "") -> None:
    attack = verdict.attack
    state = "ESCAPED" if verdict.escaped else "held"
    words = "; ".join(verdict.escaped) or verdict.end
    print(f"{state:8}{attack.kind:9}{attack.name:32}{verdict.seconds:6.2f} s  {by}{words[:120]}", flush=True)


def _proves(signs: frozenset[Sign]) -> bool:
    """Whether the attack was seen to succeed, and not only to fail as it does by its nature."""
    return bool(signs - {Sign.FAILED, Sign.ENDED})


def _beyond(attack: Attack) -> bool:
    """Whether nobody but root can do this, sandboxed or not."""
    return attack.control.root and os.geteuid() != 0


def _as_nobody(arguments: Sequence[str]) -> Figures:
    """The same session in a process of user 65534.

    Raises:
        SystemExit: it gave no figures.
    """
    command = [sys.executable, "-m", "tests.redteam.unprivileged", sys.executable, "-m", "tests.soak.redteam", "--once"]
    figures = ""
    with subprocess.Popen([*command, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(_FIGURES):
                figures = line.removeprefix(_FIGURES)
            else:
                print(line, end="", flush=True)
    if not figures:
        sys.exit("the session as user 65534 gave no figures")
    return Figures(**json.loads(figures))


def table(found: Sequence[Figures]) -> str:
    """Figures for the docs."""
    head = "| user | attacks | escapes | as writers | as machines | hostile writers | others spoiled"
    head += " | seen to succeed without the sandbox | refused by the policy"
    head += " | longest life after a violation | killed episodes | left behind | seconds |"
    rows = [
        f"| {f.user} | {f.attacks} | {f.escapes} | {f.as_writers} | {f.as_machines} | {f.hostile} | {f.spoiled}"
        f" | {f.controls} | {f.refused} | {f.slowest:.2f} s | {f.killed} | {f.left} | {f.seconds:.0f} |"
        for f in found
    ]
    return "\n".join([head, "|---" * 13 + "|", *rows])


def main() -> int:
    """Run the gate; 1 when anything escaped, was left behind, or could not be shown to work without the sandbox."""
    parser = gate_parser("redteam", __doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--only", default="", help="names of attacks, separated by commas")
    parser.add_argument("--once", action="store_true", help="only as the user that this is")
    options = parser.parse_args()
    hostile = {} if options.only else HOSTILE
    found = [session(chosen(options.only), options.count, hostile)]
    if options.once:
        print(_FIGURES + json.dumps(asdict(found[0])))
        return 1 if found[0].failed else 0
    if os.geteuid() == 0:
        found.append(_as_nobody([f"--count={options.count}", f"--only={options.only}"]))
    print(table(found))
    if options.record:
        note = "; user 0 is root, whose workers become user 65534"
        only = f" --only {options.only}" if options.only else ""
        record("redteam", "Red team", f"--count {options.count}{only}", table(found), note=note)
    return 1 if any(figures.failed for figures in found) else 0


if __name__ == "__main__":
    sys.exit(main())
