"""One plan in the sandbox, in lock-step: the worker answers each view with a primitive in time, or is killed."""

from __future__ import annotations

import logging
import re
import signal
import time
from collections.abc import Sequence
from contextlib import suppress
from types import CodeType
from typing import Final

from spca.body import AgentInterface
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

_LOG: Final = logging.getLogger(__name__)

GRACE: Final = 0.75
"""Additional seconds for a worker that has used less than half of its time limit as processor time.

On a busy machine, such a worker may not have got enough processor time.
"""

_CPU_CHECK_INTERVAL: Final = 8  # answers
_SLOW_SECONDS: Final = 0.02
_DUMP_SECONDS: Final = 0.15
_DUMP_GRACE: Final = 0.5
_DUMP_GRACE_AFTER_GRACE: Final = 0.2
_DUMP_QUIET_SECONDS: Final = 0.02
_MAX_DUMP_BYTES: Final = 1 << 14  # bytes
_DUMPED_FRAME: Final = re.compile(rf'File "{re.escape(FILENAME)}", line (\d{{1,7}}) in (<?\w{{1,80}}>?)$', re.MULTILINE)
_DUMP_END: Final = re.compile(rb"( in <module>|^  \.\.\.)\n\Z", re.MULTILINE)
_DUMP_HEADER_END: Final = "(most recent call first)"
_CRASH: Final = re.compile(r"Fatal Python error: ([^\n]{1,80})")


class _OverdueError(Exception):
    """A time limit was exceeded; ``str(error)`` says which limit."""


class SandboxEpisode:
    """An :class:`~spca.protocols.Episode` whose code runs in its own worker.

    Attributes:
        pid: process id of the worker.
        printed: cleaned text that the code has printed so far, at most ``printed_bytes`` characters.
    """

    def __init__(
        self,
        worker: Worker,
        agent: AgentSource,
        module: CodeType,
        interface: AgentInterface,
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
        self._start: wire.Start | None = wire.Start(
            module=module,
            primitives=interface.primitives,
            attributes=interface.attributes,
            steps=plan,
            previous=tuple(previous),
            words=(),
            print_limit=limits.printed_bytes,
        )
        self._packer = wire.ViewPacker(interface)
        self._primitive_count = len(interface.primitives)
        self._frames = framing.Frames()
        self._sequence = self._position = 0
        self._printed_bytes = 0
        self._waited = 0.0
        self._cpu_used = 0.0
        self._was_slow = False
        self._end: Finished | Failed | None = None

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        """Send ``view`` to the worker and return the worker's answer as an event.

        If the code violates a limit or the protocol, the event is a :class:`~spca.protocols.Failed`. After the event
        that ends the episode, every further call returns the same event.

        Raises:
            SandboxError: the sandbox itself has ended, or the episode was closed.
            ValueError: the view cannot be sent.
        """
        if self._end is not None:
            return self._end
        if self._worker.closed:
            raise SandboxError("the episode was closed")
        started = time.monotonic()
        try:
            self._worker.pin_to_current_cpu()
            event = self._judge_answer(self._exchange(view, started))
        except _OverdueError as overdue:
            event = self._fail_overdue(str(overdue))
        except (GoneError, framing.WireError, ProtocolError) as error:
            event = self._fail_broken(error)
        finally:
            self._worker.unpin()
            took = time.monotonic() - started
            self._waited = self._waited + took
            self._was_slow = took > _SLOW_SECONDS
        if isinstance(event, Failed):
            self._worker.close()
        if not isinstance(event, Yielded):
            self._end = event
        return event

    def close(self) -> None:
        """Kill and reap the worker; idempotent."""
        self._worker.close()

    def _exchange(self, view: AgentView, started: float) -> Asked | Done | Fault:
        """Send the view and return the answer; raise _OverdueError if a time limit is exceeded."""
        worker = self._worker
        self._sequence = self._sequence + 1
        # Reading the processor time is slow, so it is read only at every few answers, and after a slow answer.
        if self._sequence % _CPU_CHECK_INTERVAL == 1 or self._was_slow:
            self._cpu_used = worker.cpu_seconds()
            if self._cpu_used > self._limits.cpu_seconds:  # code can dodge the kernel's own limit, which counts ticks
                raise _OverdueError(self._describe_cpu_limit())
        if worker.pending():
            self._frames.feed(worker.receive(started))
            raise ProtocolError("an answer that was not asked for")
        data = self._packer.pack(view, self._sequence)
        if self._start:
            start = self._start._replace(words=view.words)
            self._start = None
            data = wire.pack_start(start) + data
        limit = self._limits.first_yield_seconds if self._sequence == 1 else self._limits.yield_seconds
        wall_left = self._limits.wall_seconds - self._waited
        wall_ends_first = wall_left <= limit
        deadline = started + min(limit, wall_left)
        try:
            worker.send(data, deadline)
            return self._receive_answer(deadline, limit, may_extend=not wall_ends_first)
        except TimeoutError as error:
            if wall_ends_first:
                raise _OverdueError(f"more than {self._limits.wall_seconds:g} s in generated code") from error
            raise _OverdueError(f"no yield for {limit:.1f} s") from error

    def _receive_answer(self, deadline: float, limit: float, may_extend: bool) -> Asked | Done | Fault:
        """Return the worker's answer; keep the text that the worker prints before its answer.

        ``limit`` is the time limit of this answer in seconds. If ``may_extend``, a worker that got too little processor
        time gets :data:`GRACE` further seconds once.
        """
        while True:
            try:
                data = self._worker.receive(deadline)
            except TimeoutError:
                if not may_extend or not self._is_starved(limit):
                    raise
                may_extend = False
                deadline += GRACE
                continue
            # Almost every answer is one whole frame of a primitive, which needs no general parsing.
            asked = None if self._frames.rest else wire.unpack_asked(data, self._sequence)
            if asked is not None:
                return asked
            self._frames.feed(data)
            frame = self._next_answer()
            if frame is not None:
                return wire.unpack_answer(frame)

    def _next_answer(self) -> framing.Frame | None:
        """Return the frame of the answer; None while the frame is incomplete.

        Keep the text of the ``PRINTED`` frames before the answer.
        """
        while (frame := self._frames.next()) is not None:
            if frame.kind != framing.PRINTED:
                if frame.sequence != self._sequence or self._frames.rest:
                    raise ProtocolError("an answer that was not asked for")
                return frame
            self._keep_printed(frame.payload)
        return None

    def _is_starved(self, limit: float) -> bool:
        """Return whether the worker used less than half of ``limit`` as processor time since the previous check."""
        return self._worker.cpu_seconds() - self._cpu_used < limit / 2

    def _keep_printed(self, data: bytes) -> None:
        """Append cleaned text to :attr:`printed`; raise ProtocolError if the worker has sent too much text."""
        self._printed_bytes += max(1, len(data))  # empty frames count too
        if self._printed_bytes > 4 * self._limits.printed_bytes:  # a character has up to four bytes
            raise ProtocolError("more printed text than there can be")
        left = self._limits.printed_bytes - len(self.printed)
        self.printed += reports.clean(data.decode(errors="replace"), left)

    def _judge_answer(self, answer: Asked | Done | Fault) -> Yielded | Finished | Failed:
        """Check an answer and convert it to an event; raise ProtocolError if the answer is impossible."""
        if isinstance(answer, Asked):
            if answer.position < self._position:
                raise ProtocolError("an answer for a step that is over")
            self._position = answer.position
        elif isinstance(answer, Fault) and answer.status is not Status.RUNTIME_ERROR and self._sequence > 1:
            raise ProtocolError(f"a {answer.status} after code was executed")
        return reports.event(answer, self._steps, self._lines, self._primitive_count)

    def _fail_overdue(self, reason: str) -> Failed:
        """Return the failure of code that did not answer in time; the failure names the place where the code was."""
        self._worker.request_traceback()
        had_grace = self._is_starved(self._limits.yield_seconds)
        frames = self._read_dumped_frames(_DUMP_GRACE_AFTER_GRACE if had_grace else _DUMP_GRACE)
        return self._make_failed(reason, frames)

    def _fail_broken(self, error: Exception) -> Failed:
        """Return the failure of a worker that ended or sent an invalid answer."""
        if isinstance(error, GoneError):
            cpu = self._worker.cpu_seconds()
            self._worker.close()  # sets the exit code
            return self._make_failed(self._describe_end(cpu), ())
        if isinstance(error, framing.WireError):
            frames = self._read_dumped_frames()
            if crash := _CRASH.search(self._decode_rest()):
                return self._make_failed(f"the code crashed the interpreter ({reports.clean(crash[1], 80)})", frames)
        return self._make_failed(f"the code broke the protocol: {error}", ())

    def _describe_end(self, cpu: float) -> str:
        """Return why the closed worker ended; ``cpu`` is the processor time that it used, in seconds."""
        code = self._worker.exit_code
        if code is None:
            raise SandboxError("the sandbox's process has ended: nothing can be executed")
        if code >= 0:
            return f"the code ended its own process (exit code {code})"
        # The kernel counts ticks, which on a busy machine run ahead of the clock that gave `cpu`: hence only half.
        may_have_exceeded_limit = cpu >= 0.5 * self._limits.cpu_seconds
        if -code in (signal.SIGXCPU, signal.SIGKILL) and may_have_exceeded_limit:
            return self._describe_cpu_limit()
        if -code == signal.SIGKILL:
            return "the process was killed: it used up its processor time, or the machine ran out of memory"
        signal_name = signal.strsignal(-code) or f"signal {-code}"
        return f"the code crashed the interpreter ({signal_name})"

    def _describe_cpu_limit(self) -> str:
        return f"more than {self._limits.cpu_seconds} s of processor time in one episode"

    def _read_dumped_frames(self, grace: float = 0.0) -> tuple[tuple[str, int], ...]:
        """Read the traceback that the worker's interpreter writes.

        Return (function, line) of its frames in the source, outermost first. ``grace`` is a number of further seconds,
        which a worker gets once if it got too little processor time to finish the traceback.
        """
        deadline = time.monotonic() + _DUMP_SECONDS
        dump_start = len(self._frames.rest)
        cpu = self._worker.cpu_seconds()
        with suppress(GoneError):
            while len(self._frames.rest) < _MAX_DUMP_BYTES and not _DUMP_END.search(self._frames.rest[dump_start:]):
                has_begun = len(self._frames.rest) > dump_start
                try:
                    # A dump that has begun counts as complete after a short silence, until the grace is granted.
                    next_bytes = time.monotonic() + _DUMP_QUIET_SECONDS if has_begun and grace >= 0 else deadline
                    self._frames.feed(self._worker.receive(min(deadline, next_bytes)))
                except TimeoutError:
                    if grace <= 0 or self._worker.cpu_seconds() - cpu > _DUMP_SECONDS / 2:
                        break
                    deadline = time.monotonic() + grace
                    grace = -1.0  # granted
        # The text before the first heading and the first traceback: a crashed interpreter may repeat the traceback.
        dump = "".join(self._decode_rest().split(_DUMP_HEADER_END)[:2])
        frames = [(name, int(line)) for line, name in _DUMPED_FRAME.findall(dump)]
        return tuple(reversed(frames[:MAX_FRAMES]))

    def _decode_rest(self) -> str:
        return self._frames.rest[:_MAX_DUMP_BYTES].decode(errors="replace")

    def _make_failed(self, message: str, frames: Sequence[tuple[str, int]]) -> Failed:
        """Return a failure at the step whose action is the outermost frame.

        If there is no such step, the failure is at the last known step. ``frames`` are (function, line), outermost
        first.
        """
        if frames:
            function, line = frames[-1]
            message += f" in {function}, line {line}"
        _LOG.info("sandbox worker %s is ended: %s", self.pid, message)
        outermost = frames[0][0] if frames else ""
        is_loading = outermost == "<module>"  # no step has begun
        position: int | None = self._position
        for number in range(self._position, len(self._steps)):
            if frames and outermost == self._steps[number].action:
                position = number
                break
        if is_loading or not self._steps:
            position = None
        traceback = reports.render(frames, self._lines, message) if frames else ""
        return Failed(Status.RUNTIME_ERROR, message, position, traceback)


class RefusedEpisode:
    """An episode of a source that must not be executed: every call of ``advance`` returns the same failure."""

    def __init__(self, failure: Failed) -> None:
        self.pid: int | None = None
        self.printed = ""
        self._failure = failure

    def advance(self, view: AgentView) -> Failed:  # noqa: ARG002 - never used
        return self._failure

    def close(self) -> None:
        """Do nothing, because no worker was started."""
