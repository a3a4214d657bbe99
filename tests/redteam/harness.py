"""Brings attacks, baits and hosts together and judges what comes of it."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process.calls import GRACE
from spca.writers.running import LIMITS
from tests.redteam.attack import Attack, Sign
from tests.redteam.bait import Bait
from tests.redteam.judging import SLACK, Facts, escapes, signs
from tests.redteam.processes import memory, starved
from tests.redteam.scene import MAX_STEPS

ROOT: Final = Path(__file__).resolve().parents[2]
_START: Final = 60.0
_WHOLE: Final = 40.0
_POLL: Final = 0.01
_GREW: Final = 256 << 20


class HostError(Exception):
    """The host process ended or does not answer."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of an attack in the sandbox; it held when ``escaped`` is empty.

    ``seconds``: from the worker's start to its death. ``end``: how the episode ended, in a few words.
    """

    attack: Attack
    escaped: tuple[str, ...]
    seconds: float
    end: str


class Lines:
    """A program that answers in JSON lines; ends with its context."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._arguments = [sys.executable, "-m", module, *arguments]
        self._process: subprocess.Popen[bytes] | None = None
        self._rest = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def process(self) -> subprocess.Popen[bytes]:
        """The running program, started when it is first needed.

        Raises:
            HostError: it does not start.
        """
        if self._process is None:
            keys = {"OPENAI_API_KEY": "sk-canary-91b2-of-the-host", "OPENBLAS_NUM_THREADS": "1"}
            kept = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
            self._rest = b""
            self._process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=ROOT,
                env=keys | kept,
            )
            self.receive(time.monotonic() + _START)
        return self._process

    def stop(self) -> None:
        """End the program, by force if need be."""
        process, self._process = self._process, None
        if process is not None:
            with process, suppress(BrokenPipeError):
                assert process.stdin is not None
                process.stdin.close()
                try:
                    process.wait(5)
                except subprocess.TimeoutExpired:
                    process.kill()

    def send(self, request: dict[str, Any]) -> None:
        """Raises HostError when nobody listens."""
        stream = self.process.stdin
        assert stream is not None
        try:
            stream.write(json.dumps(request).encode() + b"\n")
            stream.flush()
        except BrokenPipeError:
            raise HostError("the host has ended") from None

    def receive(self, deadline: float) -> dict[str, Any]:
        """The next line.

        Raises:
            HostError: there is none until ``deadline``.
        """
        while (line := self.poll(max(0.0, deadline - time.monotonic()))) is None:
            if time.monotonic() >= deadline:
                raise HostError("the host does not answer")
        return line

    def poll(self, seconds: float, other: int | None = None) -> dict[str, Any] | None:
        """The next line if it comes in time; returns early when ``other`` becomes readable."""
        stream = self.process.stdout
        assert stream is not None
        if b"\n" not in self._rest:
            watched = [stream.fileno(), *([] if other is None else [other])]
            if stream.fileno() in select.select(watched, [], [], seconds)[0]:
                chunk = os.read(stream.fileno(), 1 << 16)
                if not chunk:
                    raise HostError(f"the host has ended: {self._last_words()}")
                self._rest += chunk
        if b"\n" not in self._rest:
            return None
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _last_words(self) -> str:
        process = self.process
        assert process.stderr is not None
        with suppress(subprocess.TimeoutExpired):
            process.wait(2)
        os.set_blocking(process.stderr.fileno(), False)
        return f"exit code {process.returncode}: {(process.stderr.read() or b'')[-600:].decode(errors='replace')}"


class SandboxedHost(Lines):
    """Runs attacks in the sandbox; a host that an attack has ended is started anew.

    ``slack``: seconds that the host may wait longer than the limits. ``module``: the host's program. ``stage``: name of
    the body and what it sees, of :data:`tests.redteam.stages.STAGES`.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        slack: float = SLACK,
        module: str = "tests.redteam.host",
        stage: str = "grid",
    ) -> None:
        self._limits, self._slack = limits or Limits(), slack
        super().__init__(module, json.dumps(asdict(self._limits)), stage)

    def judge(self, attack: Attack, steps: int = MAX_STEPS) -> Verdict:
        """Let the attack loose and judge it."""
        with Bait() as bait:
            request = _request(attack, bait) | {"limit": steps}
            try:
                self.send(request)
                report, facts = self._watch(bait)
            except HostError as error:
                self.stop()
                return Verdict(attack, (str(error),), float("nan"), "no report")
            end = " ".join(f"{report['end']} {report['status']} {report['message']}".split())
            dead = float("nan") if facts.dead_after is None else facts.dead_after
            return Verdict(attack, escapes(attack, bait.tail, report, facts, self._limits, self._slack), dead, end)

    def kills(self, sources: list[str], deadline: float) -> dict[str, Any]:
        """Run many hostile episodes in one host; its report."""
        self.send({"kills": sources})
        return self.receive(time.monotonic() + deadline)

    def _watch(self, bait: Bait) -> tuple[dict[str, Any], Facts]:
        """Wait for the report, watching the worker meanwhile."""
        deadline = time.monotonic() + _WHOLE
        pid = self.receive(deadline)["pid"]
        started = time.monotonic()
        if pid is None:  # refused before there was a worker
            return self.receive(deadline), Facts(bait.written(), bait.reached(), bait.changed(), 0.0, True)
        dead_after, report, late = None, None, 0.0
        with _Watched(pid) as watched:
            while report is None or (dead_after is None and time.monotonic() < deadline):
                late = max(late, starved(pid))
                report = report or self.poll(0.1, watched.descriptor if dead_after is None else None)
                if dead_after is None and watched.dead():
                    dead_after = time.monotonic() - started
                if report is not None and dead_after is None:
                    deadline = min(deadline, time.monotonic() + 1)
                if report is None and time.monotonic() > deadline:
                    raise HostError("the host does not come back")
        reaped = not Path(f"/proc/{pid}").exists()
        return report, Facts(bait.written(), bait.reached(), bait.changed(), dead_after, reaped, late)


class WriterHost(SandboxedHost):
    """Runs attacks as problem writers do run, out of their namespace already."""

    def __init__(self, slack: float = SLACK) -> None:
        longest = LIMITS.yield_seconds + GRACE
        limits = replace(LIMITS, yield_seconds=longest, first_yield_seconds=longest)
        super().__init__(limits, slack, "tests.redteam.as_writer")


class BareHost(Lines):
    """Runs attacks with nothing to hold them, each in a process of its own."""

    def __init__(self) -> None:
        super().__init__("tests.redteam.bare")

    def signs(self, attack: Attack, patience: float = 1.0) -> frozenset[Sign]:
        """Which of the signs that its control names the attack shows.

        ``patience``: seconds after which an attack that should hang does.
        """
        with Bait() as bait:
            self.send(_request(attack, bait) | {"by_hand": attack.control.by_hand})
            wait = patience if Sign.STAYED in attack.control.signs else 20.0
            seen = self._watch(bait, time.monotonic() + wait)
            reached = seen.pop("reached") or bait.reached()
            facts = Facts(bait.written(), reached, bait.changed(), None, False)
            return signs(attack, bait.tail, seen, facts)

    def _watch(self, bait: Bait, deadline: float) -> dict[str, Any]:
        seen: dict[str, Any] = {"reached": []}
        final = time.monotonic() + _WHOLE
        ended = False
        while "over" not in seen:
            if time.monotonic() > final:
                raise HostError("an attack without a sandbox cannot be ended")
            seen |= self.poll(_POLL) or {}
            if "pid" in seen and not ended:
                seen["grown"] = max(seen.get("grown", 0), memory(seen["pid"], "VmHWM") - seen["rss"])
                seen["reached"] = seen["reached"] or bait.reached()
                enough = seen["grown"] > _GREW or seen["reached"] or ("sent" in seen and "end" not in seen)
                if enough or time.monotonic() > deadline:
                    seen["stayed"], ended = "end" not in seen and not enough, True
                    with suppress(ProcessLookupError):
                        os.killpg(seen["host"], signal.SIGKILL)
        return seen


class _Watched:
    """A process that is somebody else's child."""

    def __init__(self, pid: int) -> None:
        try:
            self.descriptor: int | None = os.pidfd_open(pid)
        except ProcessLookupError:
            self.descriptor = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.descriptor is not None:
            os.close(self.descriptor)

    def dead(self) -> bool:
        return self.descriptor is None or bool(select.select([self.descriptor], [], [], 0)[0])


def _request(attack: Attack, bait: Bait) -> dict[str, Any]:
    return {
        "source": bait.fill(attack.source),
        "earlier": bait.fill(attack.earlier),
        "key": bait.key,
        "goal": bait.goal,
        "tail": bait.tail,
    }
