"""One plan in the sandbox, in lock-step: a view goes in, a primitive comes out in time, or the worker dies."""

from __future__ import annotations

import logging
import re
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType
from typing import Final

from spca.code.agent_source import split_lines
from spca.code.call_binding import arguments_of
from spca.contracts import AgentSource, AgentView, PlanStep, Status
from spca.errors import SandboxError
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process import framing, reports, wire
from spca.sandbox.process.client import GoneError, Worker
from spca.sandbox.process.reports import ProtocolError
from spca.sandbox.process.runner import FILENAME, MAX_FRAMES, Asked, Done, Fault
from spca.sense.perception import VOCABULARY

_LOG: Final = logging.getLogger(__name__)

GRACE: Final = 0.75
"""Further seconds for a worker that got less than half of the processor time that its deadline would have allowed: it
was the machine that was late."""

_LOOK_AGAIN: Final = 8
_SLOW: Final = 0.02
_WHERE_LIMIT: Final = 0.15
_WHERE_GRACE: Final = 0.5
_WHERE_GRACE_OF_LATE: Final = 0.2
_QUIET: Final = 0.02
_LONGEST_DUMP: Final = 1 << 14
_DUMPED_FRAME: Final = re.compile(rf'File "{re.escape(FILENAME)}", line (\d{{1,7}}) in (<?\w{{1,80}}>?)$', re.MULTILINE)
_DUMP_END: Final = re.compile(rb"( in <module>|^  \.\.\.)\n\Z", re.MULTILINE)
_MOST_RECENT: Final = "(most recent call first)"
_CRASH: Final = re.compile(r"Fatal Python error: ([^\n]{1,80})")


class _OverdueError(Exception):
    """Time is up; ``str(error)`` says which."""


class SandboxEpisode:
    """An :class:`~spca.protocols.Episode` in a worker of its own.

    Attributes:
        pid: the worker's process id.
        printed: what the code has printed so far, cleaned, at most ``printed_bytes`` characters.
    """

    def __init__(
        self,
        worker: Worker,
        agent: AgentSource,
        module: CodeType,
        steps: Sequence[PlanStep],
        previous: Sequence[int],
        limits: Limits,
    ) -> None:
        self.pid = worker.pid
        self.printed = ""
        self._worker = worker
        self._limits = limits
        self._steps = tuple(steps)
        self._lines = split_lines(agent.text)
        plan = tuple((step.action, arguments_of(agent.text, step)) for step in steps)
        self._start: wire.Start | None = wire.Start(module, plan, tuple(previous), VOCABULARY, limits.printed_bytes)
        self._frames = framing.Frames()
        self._sequence = self._position = 0
        self._printed_bytes = 0
        self._mission: str | None = None
        self._waited = 0.0
        self._cpu_used = 0.0
        self._was_slow = False
        self._end: Finished | Failed | None = None

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        """As in the contract; a violation of the limits or the protocol is a :class:`~spca.protocols.Failed`.

        Raises:
            SandboxError: the worker is gone because the sandbox itself is.
            ValueError: the view cannot be sent.
        """
        if self._end is not None:
            return self._end
        if self._worker.closed:
            raise SandboxError("the episode was closed")
        started = time.monotonic()
        try:
            self._worker.draw_near()
            event = self._judged(self._exchange(view, started))
        except _OverdueError as overdue:
            event = self._overdue(str(overdue))
        except (GoneError, framing.WireError, ProtocolError) as error:
            event = self._broken(error)
        finally:
            self._worker.part()
            took = time.monotonic() - started
            self._waited = self._waited + took
            self._was_slow = took > _SLOW
        if isinstance(event, Failed):
            self._worker.close()
        if not isinstance(event, Yielded):
            self._end = event
        return event

    def close(self) -> None:
        """Kill and reap the worker; idempotent."""
        self._worker.close()

    def _exchange(self, view: AgentView, started: float) -> Asked | Done | Fault:
        worker = self._worker
        self._sequence = self._sequence + 1
        if self._sequence % _LOOK_AGAIN == 1 or self._was_slow:
            self._cpu_used = worker.cpu_seconds()
            if self._cpu_used > self._limits.cpu_seconds:  # the kernel's own limit counts in ticks that can be dodged
                raise _OverdueError(self._no_more_cpu())
        if worker.pending():
            self._frames.feed(worker.receive(started))
            raise ProtocolError("an answer that was not asked for")
        data = wire.pack_view(view, self._sequence, view.mission != self._mission)
        self._mission = view.mission
        if self._start:
            start = self._start._replace(words=view.words or VOCABULARY)
            self._start = None
            data = wire.pack_start(start) + data
        limit = self._limits.first_yield_seconds if self._sequence == 1 else self._limits.yield_seconds
        left = self._limits.wall_seconds - self._waited
        deadline = started + min(limit, left)
        try:
            worker.send(data, deadline)
            return self._answer(deadline, limit, is_last=left <= limit)
        except TimeoutError as error:
            if left <= limit:
                raise _OverdueError(f"more than {self._limits.wall_seconds:g} s in generated code") from error
            raise _OverdueError(f"no yield for {limit:.1f} s") from error

    def _answer(self, deadline: float, limit: float, is_last: bool) -> Asked | Done | Fault:
        """What the worker answers; prints on the way are kept. ``is_last``: there is no time left to grant."""
        extended = is_last
        while True:
            try:
                data = self._worker.receive(deadline)
            except TimeoutError:
                if extended or not self._starved(limit):
                    raise
                extended = True
                deadline = deadline + GRACE
                continue
            asked = None if self._frames.rest else wire.unpack_asked(data, self._sequence)
            if asked is not None:
                return asked
            self._frames.feed(data)
            frame = self._next_answer()
            if frame is not None:
                return wire.unpack_answer(frame)

    def _next_answer(self) -> framing.Frame | None:
        """The frame of an answer, None while it is not there."""
        while (frame := self._frames.next()) is not None:
            if frame.kind != framing.PRINTED:
                if frame.sequence != self._sequence or self._frames.rest:
                    raise ProtocolError("an answer that was not asked for")
                return frame
            self._print(frame.payload)
        return None

    def _starved(self, limit: float) -> bool:
        return self._worker.cpu_seconds() - self._cpu_used < limit / 2

    def _print(self, data: bytes) -> None:
        self._printed_bytes += max(1, len(data))
        if self._printed_bytes > 4 * self._limits.printed_bytes:  # a character has up to four bytes
            raise ProtocolError("more printed text than there can be")
        left = self._limits.printed_bytes - len(self.printed)
        self.printed += reports.clean(data.decode(errors="replace"), left)

    def _judged(self, answer: Asked | Done | Fault) -> Yielded | Finished | Failed:
        if isinstance(answer, Asked):
            if answer.position < self._position:
                raise ProtocolError("an answer for a step that is over")
            self._position = answer.position
        elif isinstance(answer, Fault) and answer.status is not Status.RUNTIME_ERROR and self._sequence > 1:
            raise ProtocolError(f"a {answer.status} after code was executed")
        return reports.event(answer, self._steps, self._lines)

    def _overdue(self, what: str) -> Failed:
        """Return the failure of code that did not answer in time."""
        self._worker.ask_where()
        was_late = self._starved(self._limits.yield_seconds)  # it had its grace
        return self._failed(what, self._dumped(_WHERE_GRACE_OF_LATE if was_late else _WHERE_GRACE))

    def _broken(self, error: Exception) -> Failed:
        """Return the failure of a worker that ended or sent an invalid answer."""
        if isinstance(error, GoneError):
            cpu = self._worker.cpu_seconds()
            self._worker.close()  # only then its exit code is known
            return self._failed(self._ended(cpu), ())
        if isinstance(error, framing.WireError):
            frames = self._dumped()
            if crash := _CRASH.search(self._rest()):
                return self._failed(f"the code crashed the interpreter ({reports.clean(crash[1], 80)})", frames)
        return self._failed(f"the code broke the protocol: {error}", ())

    def _ended(self, cpu: float) -> str:
        code = self._worker.exit_code
        if code is None:
            raise SandboxError("the sandbox's process has ended: nothing can be executed")
        if code >= 0:
            return f"the code ended its own process (exit code {code})"
        # The kernel counts ticks: on a busy machine they run ahead of the clock that `cpu` was read from.
        if -code in (signal.SIGXCPU, signal.SIGKILL) and cpu >= 0.5 * self._limits.cpu_seconds:
            return self._no_more_cpu()
        if -code == signal.SIGKILL:
            return "the process was killed: it used up its processor time, or the machine ran out of memory"
        return f"the code crashed the interpreter ({signal.strsignal(-code) or f'signal {-code}'})"

    def _no_more_cpu(self) -> str:
        return f"more than {self._limits.cpu_seconds} s of processor time in one episode"

    def _dumped(self, grace: float = 0.0) -> tuple[tuple[str, int], ...]:
        """Function and line of the source's frames in what the interpreter writes, outermost first.

        ``grace``: further seconds for the rest of a dump whose writer got no processor.
        """
        deadline = time.monotonic() + _WHERE_LIMIT
        seen = len(self._frames.rest)
        cpu = self._worker.cpu_seconds()
        with suppress(GoneError):
            while len(self._frames.rest) < _LONGEST_DUMP and not _DUMP_END.search(self._frames.rest[seen:]):
                is_new = len(self._frames.rest) > seen and grace >= 0
                try:
                    quiet = time.monotonic() + _QUIET if is_new else deadline
                    self._frames.feed(self._worker.receive(min(deadline, quiet)))
                except TimeoutError:
                    if grace <= 0 or self._worker.cpu_seconds() - cpu > _WHERE_LIMIT / 2:
                        break
                    deadline = time.monotonic() + grace
                    grace = -1.0
        first = self._rest().split(_MOST_RECENT)[:2]  # one that crashed may go on writing the same
        found = [(name, int(line)) for line, name in _DUMPED_FRAME.findall("".join(first))]
        return tuple(reversed(found[:MAX_FRAMES]))

    def _rest(self) -> str:
        return self._frames.rest[:_LONGEST_DUMP].decode(errors="replace")

    def _failed(self, message: str, frames: Sequence[tuple[str, int]]) -> Failed:
        """A violation; its step is the one whose action is the outermost frame, else the last one known."""
        if frames:
            message += f" in {frames[-1][0]}, line {frames[-1][1]}"
        _LOG.info("sandbox worker %s is ended: %s", self.pid, message)
        loading = bool(frames) and frames[0][0] == "<module>"
        position: int | None = self._position
        for number in range(self._position, len(self._steps)):
            if frames and frames[0][0] == self._steps[number].action:
                position = number
                break
        if loading or not self._steps:
            position = None
        return Failed(
            Status.RUNTIME_ERROR, message, position, reports.render(frames, self._lines, message) if frames else ""
        )


class RefusedEpisode:
    """An episode of a source that is not executed at all."""

    def __init__(self, failure: Failed) -> None:
        self.pid: int | None = None
        self.printed = ""
        self._failure = failure

    def advance(self, view: AgentView) -> Failed:  # noqa: ARG002 - nobody looks at it
        return self._failure

    def close(self) -> None:
        """Nothing was opened."""
