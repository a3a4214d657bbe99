"""Find out by trying whether the sandbox holds on this host: attempts of real workers, and what the kernel says.

:func:`examine` makes the attempts of :mod:`spca.sandbox.doctor.probes` in a worker without layers (they come off
there), then behind one layer at a time (each refuses what is its own), then behind all. A host is ``strict`` when all
of that holds, ``strict-nolandlock`` when only Landlock is missing, and refused otherwise.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import fill
from typing import Final

from spca.code.policy import check as policy
from spca.errors import SandboxError
from spca.protocols import Failed
from spca.sandbox.doctor import probes
from spca.sandbox.doctor.probes import PROBES, Answer, Bait, Probe
from spca.sandbox.kernel import landlock
from spca.sandbox.kernel.libc import require_x86_64
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import ALL_LAYERS, IN_FD, NOBODY, OUT_FD, Layer
from spca.sandbox.process.client import Worker, Zygote

STRICT: Final = "strict"
NO_LANDLOCK: Final = "strict-nolandlock"
REFUSED: Final = "refused"

_ALONE: Final = {
    "user": Layer.USER,
    "rlimits": Layer.RLIMITS,
    "user+rlimits": Layer.USER | Layer.RLIMITS,  # root may exceed the limit on processes
    "landlock": Layer.LANDLOCK,
    "seccomp": Layer.SECCOMP,
}
_REMEDIES: Final = {
    "user": "start it as an ordinary user, or as a root that may change its user (CAP_SETUID, CAP_SETGID)",
    "landlock": "it takes Linux 5.13 or later with landlock among its security modules",
    "seccomp": "it takes Linux 4.14 or later with CONFIG_SECCOMP_FILTER, in a container one that permits seccomp(2)",
}
_ENVIRONMENT: Final = frozenset(("PYTHONHASHSEED", "LD_LIBRARY_PATH"))
_HANG_SECONDS: Final = 0.02
_DEAD_WITHIN: Final = 3.0  # on a machine so busy that a second is nothing
_PATIENCE: Final = 20.0  # seconds for one attempt: a busy machine is not an unsafe one
_WIDTH: Final = 80
_TITLE_AT: Final = 15
_SEEN_AT: Final = 41


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report.

    Attributes:
        layer: number of the layer, 0-6.
        name: its name.
        probed: what was tried or looked at.
        seen: what came of it.
        ok: whether that is as it should be.
    """

    layer: int
    name: str
    probed: str
    seen: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Report:
    """What was found out about this host.

    Attributes:
        checks: every line, by layer.
        layers: what a worker is to be locked in with; none when the host is refused.
        level: ``strict``, ``strict-nolandlock`` or ``refused``.
        refusal: why generated code cannot be run here, in one line; "" when it can.
    """

    checks: tuple[Check, ...]
    layers: Layer = field(init=False)
    level: str = field(init=False)
    refusal: str = field(init=False)

    def __post_init__(self) -> None:
        failed = [check for check in self.checks if not check.ok]
        fatal = [check for check in failed if check.name != "landlock"]
        layers, level = (ALL_LAYERS & ~Layer.LANDLOCK, NO_LANDLOCK) if failed else (ALL_LAYERS, STRICT)
        if fatal or not self.checks:
            layers, level = Layer(0), REFUSED
        object.__setattr__(self, "layers", layers)
        object.__setattr__(self, "level", level)
        object.__setattr__(self, "refusal", _refusal(fatal[0]) if fatal else "")

    def raise_for_refusal(self) -> None:
        """Raise SandboxError with the reason when the host is refused."""
        if self.level == REFUSED:
            reason = self.refusal or "nothing was checked"
            raise SandboxError(f"generated code cannot be sandboxed here: {reason} (docs/sandbox.md)")


def _refusal(check: Check) -> str:
    remedy = _REMEDIES.get(check.name)
    reason = f"layer {check.layer} ({check.name}), {check.probed}: {check.seen}"
    return f"{reason}; {remedy}" if remedy else reason


def render(report: Report) -> str:
    """The report for a terminal: a line per check, at most 80 columns wide, and the level."""
    lines = [_line("", "Layer", "How it was probed", "What was seen")]
    lines += [_line("ok" if c.ok else "FAIL", f"{c.layer} {c.name}", c.probed, c.seen) for c in report.checks]
    return "\n".join([*lines, "", fill(f"Level: {report.level}", _WIDTH), *_reason(report)])


def _reason(report: Report) -> Iterator[str]:
    if report.level == REFUSED:
        yield fill(f"Generated code is not executed here: {report.refusal}.", _WIDTH)
    elif report.level == NO_LANDLOCK:
        yield fill(f"Without Landlock the other layers hold alone; {_REMEDIES['landlock']}.", _WIDTH)


def _line(mark: str, layer: str, probed: str, seen: str) -> str:
    start = f"{f'{mark:<5}{layer}':<{_TITLE_AT}} {probed}"
    return fill(seen, _WIDTH, initial_indent=f"{start:<{_SEEN_AT}} ", subsequent_indent=" " * (_SEEN_AT + 1))


def examine(zygote: Zygote, limits: Limits | None = None) -> Report:
    """Try every layer on throw-away workers; takes about 0.15 s and leaves nothing behind.

    Raises:
        SandboxError: nothing can be tried: there is no zygote, no temporary folder or no loopback to set bait on.
    """
    try:
        require_x86_64()
    except OSError as error:
        return Report((Check(3, "kernel", "the system", error.strerror or str(error), False),))
    patient = replace(limits or Limits(), first_yield_seconds=_PATIENCE, yield_seconds=_PATIENCE)
    try:
        with Bait(zygote, patient) as bait:
            return Report(tuple(sorted(_Examination(zygote, bait).checks(), key=lambda check: check.layer)))
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be examined: {error}") from error


class _Examination:
    """The workers of one examination and what they answered."""

    def __init__(self, zygote: Zygote, bait: Bait) -> None:
        self._zygote, self._bait = zygote, bait
        self._landlock = landlock.abi()
        self._answers: dict[str, Mapping[str, Answer]] = {}
        self._missing: dict[str, str] = {}

    def checks(self) -> Iterator[Check]:
        yield _policy()
        with closing(self._worker(Layer(0))) as worker:
            yield from _process(worker, self._zygote.pid)
            bare = probes.make(worker, PROBES, self._bait)
        self._bait.renew_victim()
        for name, layers in _ALONE.items():
            self._try_alone(name, layers)
        yield from (Check(3, name, "put it on a worker", why, False) for name, why in self._missing.items())
        if self._missing.keys() <= {"landlock"}:
            yield from self._together()
        yield from (self._refused(probe, bare[probe.action]) for probe in PROBES)

    def _worker(self, layers: Layer) -> Worker:
        return self._zygote.worker(layers, self._bait.limits)

    def _try_alone(self, name: str, layers: Layer) -> None:
        try:
            worker = self._worker(layers)
        except SandboxError as error:
            self._missing[name] = str(error).partition(": ")[2] or str(error)
            return
        with closing(worker):
            mine = [probe for probe in PROBES if self._is_refused_by(name, probe)]
            self._answers[name] = probes.make(worker, mine, self._bait)

    def _is_refused_by(self, name: str, probe: Probe) -> bool:
        if name == "landlock" and self._landlock < probe.landlock_abi:
            return False
        return name in probe.refused_by and not (name == "user" and os.geteuid())  # only root has a user to give up

    def _together(self) -> Iterator[Check]:
        """All layers that there are, and the layers that need them."""
        layers = ALL_LAYERS & ~Layer.LANDLOCK if self._missing else ALL_LAYERS
        with closing(self._worker(layers)) as worker:
            yield from _status(worker, self._bait.limits)
            if not self._missing:
                yield Check(3, "landlock", "its version", f"ABI {self._landlock}, no right granted", True)
            self._answers["all together"] = probes.make(worker, PROBES, self._bait)
        yield _checked_protocol(self._worker(layers), self._bait.limits)
        impatient = replace(self._bait.limits, first_yield_seconds=_HANG_SECONDS)
        yield _checked_budget(self._zygote.worker(layers, impatient), impatient)
        yield _checked_truth(self._worker(layers), self._bait.limits)

    def _refused(self, probe: Probe, bare: Answer) -> Check:
        """Return how one attempt ended in all the workers that made it."""

        def check(seen: str, ok: bool) -> Check:
            return Check(3, "kernel", probe.title, seen, ok)

        tried = {name: answers[probe.action] for name, answers in self._answers.items() if probe.action in answers}
        off = [name for name, answer in tried.items() if answer.happened or answer.claimed]
        if off:
            return check(f"not refused by {', '.join(off)}", False)
        if bare.claimed and not bare.happened:
            return check("comes off unseen: this host hides what happens", False)
        alone = [name for name in tried if name in _ALONE]
        by = f"refused by {', '.join(alone)}" if alone else "tried by nobody"
        if not bare.happened:
            by = f"refused without layers, too: {bare.words}"
        return check(by, bool(alone))


def _policy() -> Check:
    found = policy.violations("class Agent:\n    def go(self):\n        import os\n        yield 0\n")
    seen = str(found[0]).partition(": g")[0] if found else "nothing"
    return Check(1, "policy", "a method that imports os", seen, [each.line for each in found] == [3])


def _process(worker: Worker, parent: int) -> Iterator[Check]:
    """Layers 0 and 2, as the kernel tells of a worker that is no more restricted than the host."""
    folder = Path(f"/proc/{worker.pid}")

    def look(layer: int, name: str, probed: str, at: Callable[[], str], good: Callable[[str], bool]) -> Check:
        try:
            seen = at()
        except OSError as error:
            return Check(layer, name, probed, f"cannot be seen: {error.strerror}", False)
        return Check(layer, name, probed, seen, good(seen))

    def environment() -> str:
        names = [entry.partition("=")[0] for entry in (folder / "environ").read_text("utf-8", "replace").split("\0")]
        return ", ".join(filter(None, names)) or "empty"

    def descriptors() -> str:
        return ", ".join(f"{fd} {os.readlink(folder / 'fd' / fd)[:4]}" for fd in sorted(os.listdir(folder / "fd")))

    yield look(0, "secrets", "environment", environment, lambda seen: {*seen.split(", ")} <= {"empty", *_ENVIRONMENT})
    yield look(0, "secrets", "working directory", lambda: os.readlink(folder / "cwd"), "/".__eq__)
    wanted = f"{IN_FD} pipe, {OUT_FD} pipe"
    yield look(2, "process", "open descriptors", descriptors, wanted.__eq__)
    ppid = worker.status().get("PPid", "unknown")
    yield Check(2, "process", "its parent", "the zygote" if ppid == str(parent) else ppid, ppid == str(parent))


def _status(worker: Worker, limits: Limits) -> Iterator[Check]:
    """What the kernel says of a worker behind all layers."""
    status = worker.status()
    users = {word for name in ("Uid", "Gid", "Groups") for word in status.get(name, "unknown").split()}
    dropped = users == {str(NOBODY)} if os.geteuid() == 0 else "unknown" not in users and "0" not in users
    powers = {status.get(name, "unknown").lstrip("0") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")}
    seen = f"user {status.get('Uid', 'unknown').split()[0]}, {'no' if powers == {''} else 'some'} capabilities"
    yield Check(3, "user", "user and capabilities", seen, dropped and powers == {""})
    yield _resource_limits(worker, limits)
    mode, fixed = status.get("Seccomp"), status.get("NoNewPrivs")
    yield Check(3, "seccomp", "its mode in /proc", f"mode {mode}, no_new_privs {fixed}", (mode, fixed) == ("2", "1"))


def _resource_limits(worker: Worker, limits: Limits) -> Check:
    wanted = {
        "Max address space": limits.memory_bytes,
        "Max cpu time": limits.cpu_seconds,
        "Max file size": 0,
        "Max open files": 0,
        "Max processes": 0,
    }
    try:
        lines = Path(f"/proc/{worker.pid}/limits").read_text().splitlines()
    except OSError as error:
        return Check(3, "rlimits", "limits in /proc", f"cannot be seen: {error.strerror}", False)
    found = {line[:26].strip(): line[26:].split()[:2] for line in lines[1:]}
    wrong = [name for name, value in wanted.items() if not all(_at_most(text, value) for text in found.get(name, "?"))]
    good = f"{limits.memory_bytes >> 20} MB, {limits.cpu_seconds} s, no files, no processes"
    return Check(3, "rlimits", "limits in /proc", f"wrong: {', '.join(wrong)}" if wrong else good, not wrong)


def _at_most(text: str, value: int) -> bool:
    return text.isdecimal() and int(text) <= value


def _checked_protocol(worker: Worker, limits: Limits) -> Check:
    with closing(probes.episode(worker, [("forge", None)], limits)) as episode:
        event = episode.advance(probes.view())
    said = event.message if isinstance(event, Failed) else "accepted"
    return Check(4, "protocol", "forge an answer", said, "protocol" in said and _is_gone(worker))


def _checked_budget(worker: Worker, limits: Limits) -> Check:
    started = time.monotonic()
    with closing(probes.episode(worker, [("hang", None)], limits)) as episode:
        event = episode.advance(probes.view())
    late = time.monotonic() - started - limits.first_yield_seconds
    seen = f"killed {late:.2f} s after its deadline" if isinstance(event, Failed) else "it came back"
    in_time = late < _DEAD_WITHIN and isinstance(event, Failed) and _is_gone(worker)
    return Check(5, "budgets", "loop for ever", seen, in_time)


def _checked_truth(worker: Worker, limits: Limits) -> Check:
    shown = probes.view()
    before = shown.full_grid.copy()
    with closing(probes.episode(worker, [("change_map", None)], limits)) as episode:
        episode.advance(shown)
    same = bool((shown.full_grid == before).all())
    return Check(6, "truth", "overwrite the map", "the host's is as it was" if same else "the host's changed", same)


def _is_gone(worker: Worker) -> bool:
    return not Path(f"/proc/{worker.pid}").exists()
