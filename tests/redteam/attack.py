"""What an attack is, and how a text file's worth of them is read.

A source is the body of the generator method ``attack(self)`` of a class ``Agent``, with optional code above the class
and among its members. Placeholders: ``@SECRET@`` a file with a canary, ``@PW@`` a prefix that nothing may be written
under, ``@HPID@`` the host's process id, ``@PORT@`` and ``@UPORT@`` a TCP and a UDP port that are listened on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from textwrap import dedent, indent

_ENTRY = re.compile(r"^## (\w+): (\w+)$", re.MULTILINE)
_PART = re.compile(r"^# (above|member|earlier|body|module):$", re.MULTILINE)


class Kind(StrEnum):
    """What an attack is after; :mod:`tests.redteam.judging` says what counts as success."""

    LEAK = "leak"
    WRITE = "write"
    PROC = "proc"
    PROC2 = "proc2"
    KILL = "kill"
    NET = "net"
    NET2 = "net2"
    HANG = "hang"
    MEM = "mem"
    OUT = "out"
    CRASH = "crash"
    CTL = "ctl"
    CTL2 = "ctl2"
    STEPS = "steps"
    GARBAGE = "garbage"
    FORGE = "forge"
    MUT = "mut"
    CALL = "call"
    STATE = "state"
    TEXT = "text"
    NEST = "nest"


class Sign(StrEnum):
    """What is seen when nothing holds an attack."""

    TOLD = "its message tells what it got"
    WROTE = "its file appears"
    FORKED = "more processes or threads run"
    KILLED = "the interposed host is killed"
    LIMITED = "the interposed host has other limits"
    CONNECTED = "its packet arrives"
    STAYED = "it does not return"
    GREW = "the process grows beyond all bounds"
    DIED = "the process dies without an answer"
    SENT = "its bytes arrive on a descriptor of the host"
    YIELDED = "the generator yields what is no primitive"
    CHANGED = "the host's own array is changed"
    ENDLESS = "it yields as long as it is asked"
    ODD = "its control characters come out"
    FAILED = "it fails by itself"
    ENDED = "it ends by itself"


@dataclass(frozen=True, slots=True)
class Control:
    """What an attack does without a sandbox: any one of ``signs``.

    ``why`` is given where a sign is no success of the attack (``FAILED``, ``ENDED``). ``by_hand``: the bare generator
    is driven instead of the runner, which looks at what it gets. ``root``: only root can do it.
    """

    signs: tuple[Sign, ...]
    why: str = ""
    by_hand: bool = False
    root: bool = False


@dataclass(frozen=True, slots=True)
class Attack:
    """One hostile source; ``earlier`` is the source of an episode that runs before it on the same executor."""

    name: str
    kind: Kind
    source: str
    control: Control
    earlier: str = ""


SIGNS: dict[Kind, tuple[Sign, ...]] = {
    Kind.LEAK: (Sign.TOLD,),
    Kind.WRITE: (Sign.WROTE,),
    Kind.PROC: (Sign.WROTE,),
    Kind.PROC2: (Sign.FORKED,),
    Kind.KILL: (Sign.KILLED,),
    Kind.NET: (Sign.CONNECTED,),
    Kind.NET2: (Sign.CONNECTED,),
    Kind.HANG: (Sign.STAYED,),
    Kind.MEM: (Sign.GREW,),
    Kind.OUT: (Sign.GREW, Sign.STAYED),
    Kind.CRASH: (Sign.DIED,),
    Kind.CTL: (Sign.DIED,),
    Kind.CTL2: (Sign.STAYED,),
    Kind.STEPS: (Sign.ENDLESS,),
    Kind.GARBAGE: (Sign.YIELDED,),
    Kind.FORGE: (Sign.SENT,),
    Kind.MUT: (Sign.CHANGED,),
    Kind.CALL: (Sign.TOLD,),
    Kind.STATE: (Sign.TOLD,),
    Kind.TEXT: (Sign.ODD,),
    Kind.NEST: (Sign.ENDED, Sign.FAILED),
}
"""What a kind's control shows unless the attack says otherwise."""


def agent_source(body: str, above: str = "", member: str = "") -> str:
    """A module with ``class Agent`` whose method ``attack`` has the given body."""
    method = "def attack(self):\n" + indent(body.strip("\n"), "    ") + "\n    yield 0\n"
    members = 'current_dir = "East"\n' + (member.strip("\n") + "\n" if member.strip() else "") + method
    return above.strip("\n") + "\nclass Agent:\n" + indent(members, "    ")


def attacks(text: str, controls: dict[str, Control] | None = None) -> tuple[Attack, ...]:
    """Attacks from text: ``## name: kind``, then the body, or parts that each begin with a line of their own.

    Parts are ``# above:`` the class, ``# member:`` of it, ``# body:`` of its method, or else the whole ``# module:``;
    ``# earlier:`` is the body of an episode before.

    Raises:
        ValueError: ``controls`` names an attack that is not there.
    """
    given = dict(controls or {})
    pieces = _ENTRY.split(dedent(text))
    entries = zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True)
    made = [_attack(name, Kind(kind), body, given) for name, kind, body in entries]
    if given:
        raise ValueError(f"controls of unknown attacks: {', '.join(given)}")
    return tuple(made)


def _attack(name: str, kind: Kind, text: str, controls: dict[str, Control]) -> Attack:
    parts = {"above": "", "member": "", "earlier": "", "module": "", "body": text}
    if _PART.search(text):
        pieces = _PART.split(text)
        parts.update(zip(pieces[1::2], pieces[2::2], strict=True))
    earlier = agent_source(parts["earlier"]) if parts["earlier"] else ""
    source = parts["module"].lstrip("\n") or agent_source(parts["body"], parts["above"], parts["member"])
    usual = Control(SIGNS[kind], by_hand=kind in (Kind.GARBAGE, Kind.MUT, Kind.TEXT))
    return Attack(name, kind, source, controls.pop(name, usual), earlier)
