"""Find out by trying whether the sandbox holds on this host: attempts of real workers, and what the kernel says.

:func:`examine` makes the attempts of :mod:`spca.sandbox.doctor.probes` in a worker without layers (they come off
there), then behind one layer at a time (each refuses what is its own), then behind all. A host is ``strict`` when all
of that holds, ``strict-nolandlock`` when only Landlock is missing, and refused otherwise.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import Final

from spca.code.policy import check as policy
from spca.errors import SandboxError
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.doctor.probes import PROBES, VIEW, Answer, Probe, Subject, make_attempts
from spca.sandbox.kernel import landlock
from spca.sandbox.kernel.libc import require_x86_64
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import ALL_LAYERS, IN_FD, NOBODY, OUT_FD, Layer
from spca.sandbox.process.client import Zygote
from spca.sense.perception import EMPTY

STRICT: Final = "strict"
NO_LANDLOCK: Final = "strict-nolandlock"
REFUSED: Final = "refused"

_LAYERS: Final = {STRICT: ALL_LAYERS, NO_LANDLOCK: ALL_LAYERS & ~Layer.LANDLOCK, REFUSED: Layer(0)}
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
_ENVIRONMENT: Final = frozenset({"PYTHONHASHSEED", "LD_LIBRARY_PATH"})
_HANG_SECONDS: Final = 0.02
_DEAD_WITHIN: Final = 3.0  # on a machine so busy that a second is nothing
_PATIENCE: Final = 20.0  # seconds for one attempt: a busy machine is not an unsafe one
_WIDTH: Final = 80


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
    """

    checks: tuple[Check, ...]

    @property
    def level(self) -> str:
        """``strict``, ``strict-nolandlock`` or ``refused``."""
        if not self.checks or self.refusal:
            return REFUSED
        return STRICT if all(check.ok for check in self.checks) else NO_LANDLOCK

    @property
    def layers(self) -> Layer:
        """What a worker is to be locked in with; no layer when the host is refused."""
        return _LAYERS[self.level]

    @property
    def refusal(self) -> str:
        """Why generated code cannot be run here, in one line; "" when it can."""
        for check in self.checks:
            if not check.ok and check.name != "landlock":
                reason = f"layer {check.layer} ({check.name}), {check.probed}: {check.seen}"
                remedy = _REMEDIES.get(check.name)
                return f"{reason}; {remedy}" if remedy else reason
        return ""

    def raise_for_refusal(self) -> None:
        """Raise SandboxError with the reason when the host is refused."""
        if self.level == REFUSED:
            reason = self.refusal or "nothing was checked"
            raise SandboxError(f"generated code cannot be sandboxed here: {reason} (docs/sandbox.md)")


def render(report: Report) -> str:
    """Return the report for a terminal: a line per check, at most 80 columns wide, and the level."""
    lines = [_format_line("", "Layer", "How it was probed", "What was seen")]
    for check in report.checks:
        mark = "ok" if check.ok else "FAIL"
        lines.append(_format_line(mark, f"{check.layer} {check.name}", check.probed, check.seen))
    lines += ["", f"Level: {report.level}"]
    if report.level == REFUSED:
        lines.append(fill(f"Generated code is not executed here: {report.refusal}.", _WIDTH))
    elif report.level == NO_LANDLOCK:
        lines.append(fill(f"Without Landlock the other layers hold alone; {_REMEDIES['landlock']}.", _WIDTH))
    return "\n".join(lines)


def _format_line(mark: str, layer: str, probed: str, seen: str) -> str:
    start = f"{mark:<5}{layer:<10} {probed}"
    return fill(seen, _WIDTH, initial_indent=f"{start:<41} ", subsequent_indent=" " * 42)


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
        checks = sorted(_Examination(zygote, patient).make_checks(), key=lambda check: check.layer)
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be examined: {error}") from error
    return Report(tuple(checks))


class _Examination:
    """The workers of one examination and what they answered."""

    def __init__(self, zygote: Zygote, limits: Limits) -> None:
        self._zygote = zygote
        self._limits = limits
        self._answers: dict[str, Mapping[str, Answer]] = {}
        self._missing: dict[str, str] = {}

    def make_checks(self) -> Iterator[Check]:
        with self._fork(Layer(0)) as bare:
            yield from _look_at(bare, _LOOKS_WITHOUT_LAYERS)
            unhindered = make_attempts(bare, PROBES)
        for name, layers in _ALONE.items():
            self._try_alone(name, layers)
        for name, reason in self._missing.items():
            yield Check(3, name, "put it on a worker", reason, False)
        if self._missing.keys() <= {"landlock"}:
            yield from self._try_together(_LAYERS[NO_LANDLOCK if self._missing else STRICT])
        for probe in PROBES:
            seen, ok = self._judge(probe, unhindered[probe.action])
            yield Check(3, "kernel", probe.title, seen, ok)

    @contextmanager
    def _fork(self, layers: Layer) -> Iterator[Subject]:
        with closing(self._zygote.worker(layers, self._limits)) as worker:
            yield Subject(worker, self._zygote, self._limits)

    def _try_alone(self, name: str, layers: Layer) -> None:
        probes = [probe for probe in PROBES if _must_refuse(name, probe)]
        try:
            with self._fork(layers) as subject:
                self._answers[name] = make_attempts(subject, probes)
        except SandboxError as error:
            self._missing[name] = str(error).partition(": ")[2] or str(error)

    def _try_together(self, layers: Layer) -> Iterator[Check]:
        """Try all layers that there are, and look at those that need them."""
        with self._fork(layers) as subject:
            yield from _look_at(subject, _LOOKS_BEHIND_LAYERS)
            if Layer.LANDLOCK in layers:
                yield Check(3, "landlock", "its version", f"ABI {landlock.abi()}, no right granted", True)
            self._answers["all together"] = make_attempts(subject, PROBES)
        for look in _LOOKS_AT_ENDS:
            with self._fork(layers) as subject:
                yield from _look_at(subject, (look,))

    def _judge(self, probe: Probe, unhindered: Answer) -> Sight:
        """Return how one attempt ended in all the workers that made it."""
        tried = {name: answers[probe.action] for name, answers in self._answers.items() if probe.action in answers}
        failed = [name for name, answer in tried.items() if answer.happened or answer.claimed]
        if failed:
            return f"not refused by {', '.join(failed)}", False
        if unhindered.claimed and not unhindered.happened:
            return "comes off unseen: this host hides what happens", False
        alone = [name for name in tried if name in _ALONE]
        if not unhindered.happened:
            return f"refused without layers, too: {unhindered.words}", bool(alone)
        if not alone:
            return "tried by nobody", False
        return f"refused by {', '.join(alone)}", True


def _must_refuse(name: str, probe: Probe) -> bool:
    """Return whether a layer has to refuse an attempt on this host."""
    if name == "landlock" and landlock.abi() < probe.landlock_abi:
        return False
    if name == "user" and os.geteuid() != 0:  # only root has a user to give up
        return False
    return name in probe.refused_by


def _look_at(subject: Subject, looks: Sequence[Look]) -> Iterator[Check]:
    for layer, name, probed, see in looks:
        try:
            seen, ok = see(subject)
        except OSError as error:
            seen = f"cannot be seen: {error.strerror}"
            ok = False
        yield Check(layer, name, probed, seen, ok)


def _see_policy(_subject: Subject) -> Sight:
    found = policy.violations("class Agent:\n    def go(self):\n        import os\n        yield 0\n")
    seen = str(found[0]).partition(": g")[0] if found else "nothing"
    return seen, [each.line for each in found] == [3]


def _see_environment(subject: Subject) -> Sight:
    entries = Path(f"/proc/{subject.worker.pid}/environ").read_text("utf-8", "replace").split("\0")
    names = [entry.partition("=")[0] for entry in entries if entry]
    return ", ".join(names) or "empty", _ENVIRONMENT.issuperset(names)


def _see_working_directory(subject: Subject) -> Sight:
    seen = os.readlink(f"/proc/{subject.worker.pid}/cwd")
    return seen, seen == "/"


def _see_descriptors(subject: Subject) -> Sight:
    folder = Path(f"/proc/{subject.worker.pid}/fd")
    seen = ", ".join(f"{fd} {os.readlink(folder / fd)[:4]}" for fd in sorted(os.listdir(folder)))
    return seen, seen == f"{IN_FD} pipe, {OUT_FD} pipe"


def _see_parent(subject: Subject) -> Sight:
    parent = subject.worker.status().get("PPid", "unknown")
    is_zygote = parent == str(subject.zygote.pid)
    return "the zygote" if is_zygote else parent, is_zygote


def _see_user(subject: Subject) -> Sight:
    status = subject.worker.status()
    users = " ".join(status.get(name, "unknown") for name in ("Uid", "Gid", "Groups")).split()
    powers = "".join(status.get(name, "unknown") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
    is_nobody = set(users) == {str(NOBODY)}
    is_ordinary = os.geteuid() != 0 and not {"unknown", "0"}.intersection(users)
    is_powerless = not powers.strip("0")
    seen = f"user {users[0]}, {'no' if is_powerless else 'some'} capabilities"
    return seen, is_powerless and (is_nobody or is_ordinary)


def _see_resource_limits(subject: Subject) -> Sight:
    limits = subject.limits
    wanted = {
        "Max address space": limits.memory_bytes,
        "Max cpu time": limits.cpu_seconds,
        "Max file size": 0,
        "Max open files": 0,
        "Max processes": 0,
    }
    text = Path(f"/proc/{subject.worker.pid}/limits").read_text()
    found = {name: (int(soft), int(hard)) for name, soft, hard in re.findall(r"^(.+?) +(\d+) +(\d+) ", text, re.M)}
    wrong = [name for name, most in wanted.items() if max(found.get(name, (most + 1,))) > most]
    if wrong:
        return f"wrong: {', '.join(wrong)}", False
    return f"{limits.memory_bytes >> 20} MB, {limits.cpu_seconds} s, no files, no processes", True


def _see_seccomp(subject: Subject) -> Sight:
    status = subject.worker.status()
    seen = f"mode {status.get('Seccomp')}, no_new_privs {status.get('NoNewPrivs')}"
    return seen, seen == "mode 2, no_new_privs 1"


def _see_forged_answer(subject: Subject) -> Sight:
    event = _run(subject, "forge")
    seen = event.message if isinstance(event, Failed) else "accepted"
    return seen, "protocol" in seen and _is_gone(subject)


def _see_hang(subject: Subject) -> Sight:
    started = time.monotonic()
    event = _run(replace(subject, limits=replace(subject.limits, first_yield_seconds=_HANG_SECONDS)), "hang")
    late = time.monotonic() - started - _HANG_SECONDS
    if not isinstance(event, Failed):
        return "it came back", False
    return f"killed {late:.2f} s after its deadline", late < _DEAD_WITHIN and _is_gone(subject)


def _see_map(subject: Subject) -> Sight:
    _run(subject, "change_map")
    same = bool((VIEW.full_grid == EMPTY).all())
    return "the host's is as it was" if same else "the host's changed", same


def _run(subject: Subject, action: str) -> Yielded | Finished | Failed:
    """Return how a single attempt ends; its worker ends with it."""
    with closing(subject.begin([action])) as episode:
        return episode.advance(VIEW)


def _is_gone(subject: Subject) -> bool:
    return not Path(f"/proc/{subject.worker.pid}").exists()


Sight = tuple[str, bool]
"""What was seen, and whether it is as it should be."""


Look = tuple[int, str, str, Callable[[Subject], Sight]]
"""One look at a worker: layer, name, what is looked at, and how."""

_LOOKS_WITHOUT_LAYERS: Final[Sequence[Look]] = (
    (0, "secrets", "environment", _see_environment),
    (0, "secrets", "working directory", _see_working_directory),
    (1, "policy", "a method that imports os", _see_policy),
    (2, "process", "open descriptors", _see_descriptors),
    (2, "process", "its parent", _see_parent),
)
_LOOKS_BEHIND_LAYERS: Final[Sequence[Look]] = (
    (3, "user", "user and capabilities", _see_user),
    (3, "rlimits", "limits in /proc", _see_resource_limits),
    (3, "seccomp", "its mode in /proc", _see_seccomp),
)
_LOOKS_AT_ENDS: Final[Sequence[Look]] = (
    (4, "protocol", "forge an answer", _see_forged_answer),
    (5, "budgets", "loop for ever", _see_hang),
    (6, "truth", "overwrite the map", _see_map),
)
"""Each of these ends its worker."""
