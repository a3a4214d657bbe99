"""What counts as an escape, and as the sign that an attack works where nothing holds it (pure).

The rules hold for every kind alike; a kind only adds how its episodes have to end. An attack escapes when

- a canary, or a proof that something forbidden was done, comes out in a text;
- a file appears or changes, a packet arrives, the host or another process is killed or changed;
- the host waits longer than the limits, a second, and the time in which its worker got no processor;
- the host grows, loses a descriptor or keeps a process;
- text comes out that is too long or holds what is no printable character;
- a primitive comes out that is none, or a step that is not in the plan;
- harmless code does not run as it should afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from spca.errors import PatchError
from spca.sandbox.kernel.limits import Limits
from tests.redteam.attack import Attack, Kind, Sign
from tests.redteam.bait import API_KEY, CANARY_FILE, HIDDEN_GOAL
from tests.support.bodies.grid import violations

SLACK: Final = 1.0
"""Seconds after its violation in which an offender must be dead."""

_GROWTH: Final = 16 << 20
_GROWTH_TO_COMPILE: Final = 160 << 20
_MESSAGE: Final = 4096
_TRACEBACK: Final = 8192
_PROOF: Final = re.compile(r"LEAK (FORKED [1-9]|MEM \d|SYSCALL \w|STATE \w|GOT \w)")
_CANARIES: Final = (CANARY_FILE, API_KEY, HIDDEN_GOAL)
_GREW: Final = 200 << 20

MUST_FAIL: Final = frozenset(
    {Kind.HANG, Kind.MEM, Kind.OUT, Kind.CRASH, Kind.CTL, Kind.CTL2, Kind.GARBAGE, Kind.MUT, Kind.TEXT}
)
"""Kinds that may not end in anything but :class:`spca.protocols.Failed`."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the judge saw with its own eyes while the host, which is not to be believed alone, reported.

    ``dead_after``: seconds from the worker's start to its death, None when it lives. ``starved``: seconds of these in
    which the worker was ready to run and other processes had the processors: the host grants it as much.
    """

    written: Sequence[str]
    reached: Sequence[str]
    secret_changed: bool
    dead_after: float | None
    reaped: bool
    starved: float = 0.0


def told(tail: str, report: Mapping[str, Any]) -> list[str]:
    """Canaries and proofs in what came out; ``tail`` are the random digits that no source contains."""
    said = f"{report.get('message', '')}\n{report.get('printed', '')}"
    found = [canary for canary in _CANARIES if canary in said]
    found += ["a canary"] if tail in said + report.get("traceback", "") else []
    return found + [match[0] for match in _PROOF.finditer(said)]


def escapes(
    attack: Attack, tail: str, report: Mapping[str, Any], facts: Facts, limits: Limits, slack: float = SLACK
) -> tuple[str, ...]:
    """Why the attack has escaped; empty when the sandbox held. ``slack``: more than a second on a busy machine."""
    return (
        *(f"told: {what}" for what in told(tail, report)),
        *(f"wrote {name}" for name in facts.written),
        *(["changed the secret file"] if facts.secret_changed else []),
        *(f"reached the network: {what}" for what in facts.reached),
        *(f"left behind: {what}" for what in report["unlike"]),
        *_of_time(attack, report, facts, limits, slack),
        *_of_text(report),
        *_of_events(attack, report),
        *([f"harmless code afterwards: {report['benign'][:200]}"] if report["benign"] else []),
    )


def _of_time(attack: Attack, report: Mapping[str, Any], facts: Facts, limits: Limits, slack: float) -> Iterable[str]:
    longest = max(limits.first_yield_seconds, limits.yield_seconds)
    if report["slowest"] > longest + slack + facts.starved:
        yield f"the host waited {report['slowest']:.2f} s for an answer"
    if report["started"] > slack:
        yield f"the host needed {report['started']:.2f} s to start it"
    if facts.dead_after is None:
        yield "its worker lives"
    elif not facts.reaped:
        yield "its worker is dead but not reaped"
    if report["grown"] > (_GROWTH_TO_COMPILE if attack.kind is Kind.NEST else _GROWTH):
        yield f"the host grew by {report['grown'] >> 20} MB"


def _of_text(report: Mapping[str, Any]) -> Iterable[str]:
    for name, limit in (("message", _MESSAGE), ("traceback", _TRACEBACK), ("printed", Limits().printed_bytes)):
        text = report[name]
        if len(text) > limit:
            yield f"{name} of {len(text)} characters"
        odd = sorted({f"U+{ord(c):04X}" for c in text if not c.isprintable() and c not in "\n\t"})
        if odd:
            yield f"{name} holds {', '.join(odd[:5])}"


def _of_events(attack: Attack, report: Mapping[str, Any]) -> Iterable[str]:
    if not report["exact"] or any(code not in range(report.get("primitives", 7)) for code, *_ in report["steps"]):
        yield f"primitives that are none: {report['steps'][:5]}"
    lines = attack.source.count("\n") + 1
    if any((at, action) != (0, "attack") or not 0 <= line <= lines for _, at, action, line in report["steps"]):
        yield f"steps that are not in the plan: {report['steps'][:5]}"
    if not report["untouched"]:
        yield "the host's own arrays are changed"
    if attack.kind in MUST_FAIL and report["end"] != "Failed":
        yield f"it ended with {report['end']}"
    if attack.kind is Kind.GARBAGE and report["steps"]:
        yield f"its garbage became {report['steps'][:5]}"


def signs(attack: Attack, tail: str, seen: Mapping[str, Any], facts: Facts) -> frozenset[Sign]:
    """What an attack was seen to do without a sandbox; ``seen`` is empty but for ``over`` when it gave no report."""
    shown = {
        Sign.TOLD: bool(told(tail, seen)),
        Sign.WROTE: bool(facts.written) or facts.secret_changed,
        Sign.FORKED: "LEAK FORKED" in seen.get("message", ""),
        Sign.KILLED: seen.get("over") == -9 and not seen.get("stayed"),
        Sign.LIMITED: bool(seen.get("limited")),
        Sign.CONNECTED: bool(facts.reached),
        Sign.STAYED: bool(seen.get("stayed")),
        Sign.GREW: seen.get("grown", 0) > _GREW,
        Sign.DIED: "end" not in seen and not seen.get("stayed"),
        Sign.SENT: seen.get("sent", 0) > 0,
        Sign.YIELDED: any(seen.get("yielded", ())),
        Sign.CHANGED: bool(seen.get("changed")),
        Sign.ENDLESS: seen.get("end") == "Yielded",
        Sign.ODD: any(not c.isprintable() for c in seen.get("message", "") + seen.get("printed", "")),
        Sign.FAILED: seen.get("end") == "Failed",
        Sign.ENDED: seen.get("end") == "Finished",
    }
    return frozenset(sign for sign in attack.control.signs if shown[sign])


def refusals(source: str) -> tuple[str, ...]:
    """What the static policy has against a source, leaving aside that every attack assigns ``current_dir``."""
    try:
        found = violations(source.replace('    current_dir = "East"\n', "", 1))
    except PatchError as error:
        return (str(error),)
    return tuple(violation.words for violation in found)
