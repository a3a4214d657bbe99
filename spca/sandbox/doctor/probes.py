"""The doctor's probes: attempts at forbidden operations in real workers, and how the host detects their success.

An attempt has *happened* if the host observes its effect: the mark was printed, the file exists, the listener was
called, or the victim is dead. The return value of the attempted call proves nothing. A worker without any layer makes
the same attempts first. If an attempt has no effect even in that worker, it proves nothing about the layers.
"""

from __future__ import annotations

import secrets
import select
import socket
import tempfile
import time
from collections.abc import Callable, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from spca.body import AgentInterface
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process.client import Worker, Zygote
from spca.sandbox.process.episode import SandboxEpisode
from spca.sandbox.process.runner import FILENAME

INTERFACE: Final = AgentInterface(("refused", "happened"), (("mission", "value"), ("map", "words")))
"""The names that attempts have: two primitives, a mission and a map."""

VIEW: Final = AgentView(("", np.zeros((3, 3), np.uint8)), ("empty",))
"""The state that is shown to every attempt; the attempts do not depend on it."""

_REFUSED: Final = 0
"""Primitive that an attempt yields if the attempted call raises an error; if the call succeeds, it yields 1."""

_EFFECT_SECONDS: Final = 0.5
"""Largest number of seconds to wait for the effect of an attempt that reported success."""

_ATTEMPTS: Final = Path(__file__).with_name("attempts.py")


@dataclass(frozen=True, slots=True)
class Subject:
    """A worker under examination.

    Attributes:
        worker: the worker.
        zygote: the process that forked the worker.
        limits: budgets of the worker's episodes.
    """

    worker: Worker
    zygote: Zygote
    limits: Limits

    def begin(self, actions: Sequence[str], **constants: str | int) -> SandboxEpisode:
        """Begin an episode that makes the attempts ``actions``.

        ``constants`` are the values of the constants that the source of the attempts uses.
        """
        values = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
        source = AgentSource(_ATTEMPTS.read_text() + values)
        module = compile(source.text, FILENAME, "exec", dont_inherit=True)
        steps = [PlanStep("attempt", (action,)) for action in actions]
        return SandboxEpisode(self.worker, source, module, INTERFACE, steps, (), self.limits)


@dataclass(slots=True)
class ProbeRun:
    """The attempts of one worker, and the objects on which the host observes their effects.

    Attributes:
        subject: the worker that makes the attempts.
        folder: a new folder that the worker must not access.
        listener: a socket that the worker must not connect to.
        victim: a process that the worker must neither trace nor kill.
        mark: a secret text, which the host writes to a file in ``folder``. Attempts that read no file print the mark
            themselves.
        printed: text that the last attempt printed.
    """

    subject: Subject
    folder: Path
    listener: socket.socket
    victim: Worker
    mark: str = field(default_factory=lambda: secrets.token_hex(4))
    printed: str = ""

    def make_attempts(self, probes: Sequence[Probe]) -> dict[str, Answer]:
        """Make the attempts in the given order and end the worker; return the answers by action."""
        canary = self.folder / "canary"
        canary.write_text(self.mark)
        episode = self.subject.begin(
            [probe.action for probe in probes],
            CANARY=str(canary),
            NEW_FILE=str(self.folder / "new"),
            PORT=self.listener.getsockname()[1],
            MARK=self.mark,
            VICTIM=self.victim.pid,
            MEMORY_BYTES=self.subject.limits.memory_bytes,
        )
        with closing(episode):  # a victim can only be reaped after the worker that traces the victim has ended
            return {probe.action: self._make_attempt(probe, episode) for probe in probes}

    def _make_attempt(self, probe: Probe, episode: SandboxEpisode) -> Answer:
        """Let the worker make one attempt; return how it ended.

        If the attempt reports success, wait up to :data:`_EFFECT_SECONDS` for its effect.
        """
        printed_before = len(episode.printed)
        event = episode.advance(VIEW)
        self.printed = episode.printed[printed_before:]
        if not isinstance(event, Yielded):  # the worker's program was replaced by another one
            return Answer(happened=True, claimed=True, words="")
        claimed = event.step.code != _REFUSED
        deadline = time.monotonic() + (_EFFECT_SECONDS if claimed else 0)
        while not (happened := probe.has_happened(self)) and time.monotonic() < deadline:
            time.sleep(0.001)
        return Answer(happened, claimed, self.printed)

    def has_printed(self) -> bool:
        """Return whether the attempt printed the mark, which proves that the attempt read the file or ran code."""
        return self.mark in self.printed

    def has_written(self) -> bool:
        """Return whether the worker created the new file."""
        return (self.folder / "new").exists()

    def has_called(self) -> bool:
        """Return whether a connection waits at the listener."""
        callers = select.poll()
        callers.register(self.listener, select.POLLIN)
        return bool(callers.poll(0))

    def has_traced(self) -> bool:
        """Return whether any process traces the victim."""
        return self.victim.status().get("TracerPid", "0") != "0"

    def has_killed(self) -> bool:
        """Return whether the victim has ended: its pipe is then closed, and a closed pipe is readable.

        The victim never writes, so there is no other reason why the pipe is readable.
        """
        return self.victim.pending()

    def has_outgrown(self) -> bool:
        """Return whether the peak of the worker's address space exceeds the memory limit."""
        peak_kb = int(self.subject.worker.status().get("VmPeak", "0 kB").split()[0])
        return peak_kb << 10 > self.subject.limits.memory_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """How one attempt ended.

    Attributes:
        happened: whether the host observed the effect.
        claimed: whether the attempt itself reported success.
        words: text that the attempt printed.
    """

    happened: bool
    claimed: bool
    words: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt.

    Attributes:
        action: name of the attempt's method in :mod:`spca.sandbox.doctor.attempts`.
        title: the forbidden operation in words.
        refused_by: names of the layers that must refuse the attempt; each must do so alone, without the other layers.
        has_happened: function that returns whether the attempt had an effect.
        landlock_abi: first version of Landlock's ABI that refuses the attempt.
    """

    action: str
    title: str
    refused_by: Set[str]
    has_happened: Callable[[ProbeRun], bool]
    landlock_abi: int = 1


PROBES: Final = (
    Probe("read_file", "read a file", {"user", "rlimits", "landlock", "seccomp"}, ProbeRun.has_printed),
    Probe("write_file", "create a file", {"user", "rlimits", "landlock", "seccomp"}, ProbeRun.has_written),
    Probe("connect", "connect a socket", {"rlimits", "landlock", "seccomp"}, ProbeRun.has_called, landlock_abi=4),
    Probe("fork", "fork a process", {"user+rlimits", "seccomp"}, ProbeRun.has_printed),
    Probe("thread", "start a thread", {"user+rlimits", "seccomp"}, ProbeRun.has_printed),
    Probe("machine_code", "run machine code", {"seccomp"}, ProbeRun.has_printed),
    Probe("trace", "trace another process", {"user", "landlock", "seccomp"}, ProbeRun.has_traced),
    Probe("kill", "kill another process", {"user", "landlock", "seccomp"}, ProbeRun.has_killed, landlock_abi=6),
    Probe("memory", "exceed its memory", {"rlimits"}, ProbeRun.has_outgrown),
    # Last, because a successful attempt replaces the worker's program, which then answers no more.
    Probe("execute", "execute a program", {"landlock", "seccomp"}, lambda _: False),
)
"""Every attempt, in the order in which a worker makes the attempts."""


def make_attempts(subject: Subject, probes: Sequence[Probe]) -> dict[str, Answer]:
    """Make the attempts in a worker, on a temporary folder, socket and process; return the answers by action.

    Raises:
        OSError: there is no temporary folder or no loopback interface.
        SandboxError: the victim process cannot be forked.
    """
    with (
        tempfile.TemporaryDirectory(prefix="spca-doctor-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
        closing(subject.zygote.worker(Layer(0), subject.limits)) as victim,
    ):
        return ProbeRun(subject, Path(folder), listener, victim).make_attempts(probes)
