"""Test whether the sandbox works on this host: attack it from real workers, and read what the kernel reports of them.

:func:`examine` makes the attempts of :mod:`spca.sandbox.doctor.probes` first in a worker without layers, where they
should succeed. Then a worker behind each single layer should refuse the attempts that this layer forbids. Last, a
worker behind all layers should refuse every attempt. If all of these tests pass, the host's level is ``strict``; if
only Landlock is missing, ``strict-nolandlock``; in every other case, ``refused``.
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

from spca.body import NO_INTERFACE
from spca.code.policy import check as policy
from spca.errors import SandboxError
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.doctor.probes import PROBES, VIEW, Answer, Probe, Subject, make_attempts
from spca.sandbox.kernel import landlock
from spca.sandbox.kernel.libc import require_x86_64
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import ALL_LAYERS, IN_FD, NOBODY, OUT_FD, Layer
from spca.sandbox.process.client import Zygote

STRICT: Final = "strict"
NO_LANDLOCK: Final = "strict-nolandlock"
REFUSED: Final = "refused"

_LAYERS: Final = {STRICT: ALL_LAYERS, NO_LANDLOCK: ALL_LAYERS & ~Layer.LANDLOCK, REFUSED: Layer(0)}
_SEPARATE_LAYERS: Final = {
    "user": Layer.USER,
    "rlimits": Layer.RLIMITS,
    "user+rlimits": Layer.USER | Layer.RLIMITS,  # the limit on processes does not bind root
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
_MAX_KILL_DELAY: Final = 3.0  # seconds; generous, because a very busy machine is late by more than a second
_ATTEMPT_SECONDS: Final = 20.0  # generous, because a busy machine must not be reported as unsafe
_WIDTH: Final = 80  # columns of the rendered report


@dataclass(frozen=True, slots=True)
class Check:
    """One line of the report.

    Attributes:
        layer: number of the layer, 0-6.
        name: name of the layer.
        probed: what was tried or inspected.
        seen: the result.
        ok: whether the result is the expected one.
    """

    layer: int
    name: str
    probed: str
    seen: str
    ok: bool


@dataclass(frozen=True, slots=True)
class Report:
    """Result of the examination of this host.

    Attributes:
        checks: every line of the report, sorted by layer.
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
        """The layers to apply to each worker; no layers if the level is ``refused``."""
        return _LAYERS[self.level]

    @property
    def refusal(self) -> str:
        """Reason in one line why generated code cannot run on this host; "" if it can run."""
        for check in self.checks:
            if not check.ok and check.name != "landlock":
                reason = f"layer {check.layer} ({check.name}), {check.probed}: {check.seen}"
                remedy = _REMEDIES.get(check.name)
                return f"{reason}; {remedy}" if remedy else reason
        return ""

    def raise_for_refusal(self) -> None:
        """Raise SandboxError with the reason if generated code cannot run on this host."""
        if self.level == REFUSED:
            reason = self.refusal or "nothing was checked"
            raise SandboxError(f"generated code cannot be sandboxed here: {reason} (docs/sandbox.md)")


def render(report: Report) -> str:
    """Return the report as text of at most 80 columns: one entry per check, then the level."""
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
    """Test every layer on throw-away workers, which takes about 0.15 s; leave no file or process behind.

    Raises:
        SandboxError: the test is impossible without a zygote, a temporary folder or a loopback interface.
    """
    try:
        require_x86_64()
    except OSError as error:
        return Report((Check(3, "kernel", "the system", error.strerror or str(error), False),))
    patient = replace(limits or Limits(), first_yield_seconds=_ATTEMPT_SECONDS, yield_seconds=_ATTEMPT_SECONDS)
    try:
        checks = sorted(_Examination(zygote, patient).make_checks(), key=lambda check: check.layer)
    except OSError as error:
        raise SandboxError(f"the sandbox cannot be examined: {error}") from error
    return Report(tuple(checks))


class _Examination:
    """One examination of this host: forks workers and collects the answers to their attempts."""

    def __init__(self, zygote: Zygote, limits: Limits) -> None:
        self._zygote = zygote
        self._limits = limits
        # Answers by the name in `_SEPARATE_LAYERS` (or "all together") of the worker's layers, then by action.
        self._answers: dict[str, Mapping[str, Answer]] = {}
        # The reason why a layer cannot be applied, by the layer's name.
        self._missing: dict[str, str] = {}

    def make_checks(self) -> Iterator[Check]:
        """Yield every check; each worker runs only when the caller asks for its checks."""
        with self._fork(Layer(0)) as bare:
            yield from _inspect(bare, _INSPECTIONS_WITHOUT_LAYERS)
            unhindered = make_attempts(bare, PROBES)
        for name, layers in _SEPARATE_LAYERS.items():
            self._try_layer_alone(name, layers)
        for name, reason in self._missing.items():
            yield Check(3, name, "put it on a worker", reason, False)
        if self._missing.keys() <= {"landlock"}:
            yield from self._try_layers_together(_LAYERS[NO_LANDLOCK if self._missing else STRICT])
        for probe in PROBES:
            seen, ok = self._judge(probe, unhindered[probe.action])
            yield Check(3, "kernel", probe.title, seen, ok)

    @contextmanager
    def _fork(self, layers: Layer) -> Iterator[Subject]:
        """Return a context with a new worker behind ``layers``; the worker is ended when the context ends."""
        with closing(self._zygote.worker(layers, self._limits)) as worker:
            yield Subject(worker, self._zygote, self._limits)

    def _try_layer_alone(self, name: str, layers: Layer) -> None:
        """Record the answers of a worker behind the single layer ``name``; if it cannot be applied, record why."""
        probes = [probe for probe in PROBES if _must_refuse(name, probe)]
        try:
            with self._fork(layers) as subject:
                self._answers[name] = make_attempts(subject, probes)
        except SandboxError as error:
            self._missing[name] = str(error).partition(": ")[2] or str(error)

    def _try_layers_together(self, layers: Layer) -> Iterator[Check]:
        """Record the answers of a worker behind all ``layers``; yield the checks from inspections of such workers."""
        with self._fork(layers) as subject:
            yield from _inspect(subject, _INSPECTIONS_BEHIND_LAYERS)
            if Layer.LANDLOCK in layers:
                yield Check(3, "landlock", "its version", f"ABI {landlock.abi()}, no right granted", True)
            self._answers["all together"] = make_attempts(subject, PROBES)
        for inspection in _DEADLY_INSPECTIONS:
            with self._fork(layers) as subject:
                yield from _inspect(subject, (inspection,))

    def _judge(self, probe: Probe, unhindered: Answer) -> Finding:
        """Return a summary of one attempt in all workers, and whether every worker that must refuse the attempt refused
        it.

        ``unhindered`` is the answer of the worker without layers.
        """
        action = probe.action
        tried = {name: answers[action] for name, answers in self._answers.items() if action in answers}
        failed = [name for name, answer in tried.items() if answer.happened or answer.claimed]
        if failed:
            return f"not refused by {', '.join(failed)}", False
        if unhindered.claimed and not unhindered.happened:
            return "comes off unseen: this host hides what happens", False
        refusing_layers = [name for name in tried if name in _SEPARATE_LAYERS]
        if not unhindered.happened:
            return f"refused without layers, too: {unhindered.words}", bool(refusing_layers)
        if not refusing_layers:
            return "tried by nobody", False
        return f"refused by {', '.join(refusing_layers)}", True


def _must_refuse(name: str, probe: Probe) -> bool:
    """Return whether the layer ``name`` has to refuse the attempt on this host."""
    if name == "landlock" and landlock.abi() < probe.landlock_abi:
        return False
    if name == "user" and os.geteuid() != 0:  # only root can change its user
        return False
    return name in probe.refused_by


def _inspect(subject: Subject, inspections: Sequence[Inspection]) -> Iterator[Check]:
    """Yield a check with the result of each inspection of a worker; the check fails if /proc cannot be read."""
    for layer, name, probed, inspect in inspections:
        try:
            seen, ok = inspect(subject)
        except OSError as error:
            seen = f"cannot be seen: {error.strerror}"
            ok = False
        yield Check(layer, name, probed, seen, ok)


def _inspect_policy(_subject: Subject) -> Finding:
    """Test that the static policy refuses an import of ``os``, and that the message names the correct line."""
    violations = policy.violations(
        "class Agent:\n    def go(self):\n        import os\n        yield 0\n", NO_INTERFACE
    )
    seen = str(violations[0]).partition(": g")[0] if violations else "nothing"
    return seen, [violation.line for violation in violations] == [3]


def _inspect_environment(subject: Subject) -> Finding:
    """Test that the worker's environment has only harmless variables."""
    entries = Path(f"/proc/{subject.worker.pid}/environ").read_text("utf-8", "replace").split("\0")
    names = [entry.partition("=")[0] for entry in entries if entry]
    return ", ".join(names) or "empty", _ENVIRONMENT.issuperset(names)


def _inspect_working_directory(subject: Subject) -> Finding:
    """Test that the worker's directory is the root directory."""
    seen = os.readlink(f"/proc/{subject.worker.pid}/cwd")
    return seen, seen == "/"


def _inspect_descriptors(subject: Subject) -> Finding:
    """Test that the worker's only open descriptors are its two pipe ends."""
    folder = Path(f"/proc/{subject.worker.pid}/fd")
    seen = ", ".join(f"{fd} {os.readlink(folder / fd)[:4]}" for fd in sorted(os.listdir(folder)))
    return seen, seen == f"{IN_FD} pipe, {OUT_FD} pipe"


def _inspect_parent(subject: Subject) -> Finding:
    """Test that the worker's parent is the zygote, not the host."""
    parent = subject.worker.status().get("PPid", "unknown")
    is_zygote = parent == str(subject.zygote.pid)
    return "the zygote" if is_zygote else parent, is_zygote


def _inspect_user(subject: Subject) -> Finding:
    """Test that the worker has no capabilities and is not root; on a host that runs as root, the worker must be
    "nobody".
    """
    status = subject.worker.status()
    users = " ".join(status.get(name, "unknown") for name in ("Uid", "Gid", "Groups")).split()
    capabilities = "".join(status.get(name, "unknown") for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"))
    is_nobody = set(users) == {str(NOBODY)}
    is_ordinary = os.geteuid() != 0 and not {"unknown", "0"}.intersection(users)
    has_no_capability = not capabilities.strip("0")  # hexadecimal bit masks
    seen = f"user {users[0]}, {'no' if has_no_capability else 'some'} capabilities"
    return seen, has_no_capability and (is_nobody or is_ordinary)


def _inspect_resource_limits(subject: Subject) -> Finding:
    """Test that no resource limit in /proc is higher than the episode's limits."""
    limits = subject.limits
    maxima = {
        "Max address space": limits.memory_bytes,
        "Max cpu time": limits.cpu_seconds,
        "Max file size": 0,
        "Max open files": 0,
        "Max processes": 0,
    }
    text = Path(f"/proc/{subject.worker.pid}/limits").read_text()
    actual = {name: (int(soft), int(hard)) for name, soft, hard in re.findall(r"^(.+?) +(\d+) +(\d+) ", text, re.M)}
    # A limit that is missing from /proc counts as too high.
    wrong = [name for name, maximum in maxima.items() if max(actual.get(name, (maximum + 1,))) > maximum]
    if wrong:
        return f"wrong: {', '.join(wrong)}", False
    return f"{limits.memory_bytes >> 20} MB, {limits.cpu_seconds} s, no files, no processes", True


def _inspect_seccomp(subject: Subject) -> Finding:
    """Test that the kernel reports a seccomp filter (mode 2) and NO_NEW_PRIVS."""
    status = subject.worker.status()
    seen = f"mode {status.get('Seccomp')}, no_new_privs {status.get('NoNewPrivs')}"
    return seen, seen == "mode 2, no_new_privs 1"


def _inspect_forged_answer(subject: Subject) -> Finding:
    """Test that the host kills a worker if generated code in it writes a forged frame."""
    event = _make_attempt(subject, "forge")
    seen = event.message if isinstance(event, Failed) else "accepted"
    return seen, "protocol" in seen and _is_gone(subject)


def _inspect_hang(subject: Subject) -> Finding:
    """Test that the host kills a worker in an endless loop soon after the deadline."""
    limits = replace(subject.limits, first_yield_seconds=_HANG_SECONDS)
    started = time.monotonic()
    event = _make_attempt(replace(subject, limits=limits), "hang")
    late = time.monotonic() - started - _HANG_SECONDS
    if not isinstance(event, Failed):
        return "it came back", False
    return f"killed {late:.2f} s after its deadline", late < _MAX_KILL_DELAY and _is_gone(subject)


def _inspect_map(subject: Subject) -> Finding:
    """Test that the host's map does not change if generated code overwrites its own copy of the map."""
    _make_attempt(subject, "change_map")
    is_unchanged = not VIEW.values[1].any()
    return "the host's is as it was" if is_unchanged else "the host's changed", is_unchanged


def _make_attempt(subject: Subject, action: str) -> Yielded | Finished | Failed:
    """Make the single attempt ``action`` in a worker, then end the worker; return how the attempt ended."""
    with closing(subject.begin([action])) as episode:
        return episode.advance(VIEW)


def _is_gone(subject: Subject) -> bool:
    return not Path(f"/proc/{subject.worker.pid}").exists()


Finding = tuple[str, bool]
"""The result of a test in words, and whether the result is the expected one."""


Inspection = tuple[int, str, str, Callable[[Subject], Finding]]
"""One inspection of a worker: number and name of the layer, what is inspected, and the inspecting function."""

_INSPECTIONS_WITHOUT_LAYERS: Final[Sequence[Inspection]] = (
    (0, "secrets", "environment", _inspect_environment),
    (0, "secrets", "working directory", _inspect_working_directory),
    (1, "policy", "a method that imports os", _inspect_policy),
    (2, "process", "open descriptors", _inspect_descriptors),
    (2, "process", "its parent", _inspect_parent),
)
_INSPECTIONS_BEHIND_LAYERS: Final[Sequence[Inspection]] = (
    (3, "user", "user and capabilities", _inspect_user),
    (3, "rlimits", "limits in /proc", _inspect_resource_limits),
    (3, "seccomp", "its mode in /proc", _inspect_seccomp),
)
_DEADLY_INSPECTIONS: Final[Sequence[Inspection]] = (
    (4, "protocol", "forge an answer", _inspect_forged_answer),
    (5, "budgets", "loop for ever", _inspect_hang),
    (6, "truth", "overwrite the map", _inspect_map),
)
"""Inspections that end the inspected worker, so that each needs a new worker."""
