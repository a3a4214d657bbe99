"""What the doctor tries on workers: real attempts at what no worker may do, and how the host sees that one came off.

An attempt has *happened* when its effect is there: the mark arrived, the file exists, the listener was called, the
victim is dead, machine code ran. What a call returned proves nothing. The same attempts are made in a worker without
any layer first; one that has no effect even there shows nothing.
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

from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import Layer
from spca.sandbox.process.client import Worker, Zygote
from spca.sandbox.process.episode import SandboxEpisode
from spca.sandbox.process.runner import FILENAME
from spca.sense.perception import EMPTY

VIEW: Final = AgentView("", np.full((3, 3), EMPTY, np.uint8), np.zeros((7, 7), np.uint8), 0, None, (1, 1), (1, 1), 0)
"""What every attempt is shown; it does not matter."""

_REFUSED: Final = 0
"""Primitive by which an attempt tells that it looked refused from the inside; 1 that it did not."""

_EFFECT_SECONDS: Final = 0.5

_ATTEMPTS: Final = Path(__file__).with_name("attempts.py")


@dataclass(frozen=True, slots=True)
class Subject:
    """A worker that is examined.

    Attributes:
        worker: the worker.
        zygote: the process that it was forked from.
        limits: budgets of its episodes.
    """

    worker: Worker
    zygote: Zygote
    limits: Limits

    def begin(self, actions: Sequence[str], **constants: str | int) -> SandboxEpisode:
        """Begin an episode that makes the attempts ``actions``, given the constants that they need."""
        values = "".join(f"{name} = {value!r}\n" for name, value in constants.items())
        source = AgentSource(_ATTEMPTS.read_text() + values)
        module = compile(source.text, FILENAME, "exec", dont_inherit=True)
        steps = [PlanStep("attempt", (action,)) for action in actions]
        return SandboxEpisode(self.worker, source, module, steps, (), self.limits)


@dataclass(slots=True)
class ProbeRun:
    """Attempts of one worker, and what its host can see of them.

    Attributes:
        subject: makes the attempts.
        folder: an empty folder that the worker must not get at.
        listener: a socket that it must not reach.
        victim: a process that it must neither trace nor kill.
        mark: what is written into a file there; attempts that need no such bait print it themselves.
        printed: what the last attempt has printed.
    """

    subject: Subject
    folder: Path
    listener: socket.socket
    victim: Worker
    mark: str = field(default_factory=lambda: secrets.token_hex(4))
    printed: str = ""

    def make_attempts(self, probes: Sequence[Probe]) -> dict[str, Answer]:
        """Make attempts in this order, which ends the worker; return the answers by action."""
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
        with closing(episode):  # ends a worker that traces the victim, which could not be reaped before
            return {probe.action: self._make_attempt(probe, episode) for probe in probes}

    def _make_attempt(self, probe: Probe, episode: SandboxEpisode) -> Answer:
        heard = len(episode.printed)
        event = episode.advance(VIEW)
        self.printed = episode.printed[heard:]
        if not isinstance(event, Yielded):  # the program that answered is no more
            return Answer(happened=True, claimed=True, words="")
        claimed = event.step.code != _REFUSED
        deadline = time.monotonic() + (_EFFECT_SECONDS if claimed else 0)
        while not (happened := probe.has_happened(self)) and time.monotonic() < deadline:
            time.sleep(0.001)
        return Answer(happened, claimed, self.printed)

    def has_printed(self) -> bool:
        """Return whether the mark was printed: by who read it, or by the process, thread or machine code that ran."""
        return self.mark in self.printed

    def has_written(self) -> bool:
        """Return whether there is a new file."""
        return (self.folder / "new").exists()

    def has_called(self) -> bool:
        """Return whether somebody waits at the listener."""
        callers = select.poll()
        callers.register(self.listener, select.POLLIN)
        return bool(callers.poll(0))

    def has_traced(self) -> bool:
        """Return whether the victim is traced."""
        return self.victim.status().get("TracerPid", "0") != "0"

    def has_killed(self) -> bool:
        """Return whether the victim, which says nothing, has closed its pipe."""
        return self.victim.pending()

    def has_outgrown(self) -> bool:
        """Return whether the largest address space that the worker ever had is beyond its limit."""
        peak_kb = int(self.subject.worker.status().get("VmPeak", "0 kB").split()[0])
        return peak_kb << 10 > self.subject.limits.memory_bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """How one attempt ended: whether its effect is there, whether it thought so itself, what it printed."""

    happened: bool
    claimed: bool
    words: str


@dataclass(frozen=True, slots=True)
class Probe:
    """One attempt.

    Attributes:
        action: its method in :mod:`spca.sandbox.doctor.attempts`.
        title: what it tries.
        refused_by: names of the layers that must refuse it, each of them alone.
        has_happened: whether its effect is there.
        landlock_abi: first version of Landlock's ABI that refuses it.
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
    # Last, because what happens is that the worker's program is another one afterwards: it answers no more.
    Probe("execute", "execute a program", {"landlock", "seccomp"}, lambda _: False),
)
"""Every attempt, in the order in which one worker makes them."""


def make_attempts(subject: Subject, probes: Sequence[Probe]) -> dict[str, Answer]:
    """Make attempts in a worker at things that are there for them alone; return the answers by action.

    Raises:
        OSError: there is no temporary folder or no loopback.
        SandboxError: a victim cannot be forked.
    """
    with (
        tempfile.TemporaryDirectory(prefix="spca-doctor-") as folder,
        socket.create_server(("127.0.0.1", 0)) as listener,
        closing(subject.zygote.worker(Layer(0), subject.limits)) as victim,
    ):
        return ProbeRun(subject, Path(folder), listener, victim).make_attempts(probes)
