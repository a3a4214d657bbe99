"""Generated code inside the test's own process: no sandbox at all.

It shows what an attack does where nothing holds it, and what harmless code does, to compare with the sandbox. It drives
code exactly as the worker does.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from types import CodeType

from spca.code.agent_source import split_lines
from spca.code.call_binding import arguments_of
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process import reports
from spca.sandbox.process.runner import FILENAME, Runner
from spca.sense.perception import WORDS


@lru_cache(maxsize=8)
def _compiled(agent: AgentSource) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(agent.text, FILENAME, "exec", dont_inherit=True)


class InProcessExecutor:
    """Runs generated code right here."""

    def start(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> InProcessEpisode:
        return InProcessEpisode(agent, steps, previous)


class InProcessEpisode:
    """One plan; ``printed`` is what the code has printed so far."""

    def __init__(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int]) -> None:
        self._lines, self._steps = split_lines(agent.text), tuple(steps)
        self._said: list[str] = []
        self._runner: Runner | None = None
        self._broken: Failed | None = None
        try:
            module = _compiled(agent)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._broken = reports.syntax_error(error, agent)
            return
        plan = [(step.action, arguments_of(agent.text, step)) for step in steps]
        self._runner = Runner(module, plan, previous, WORDS, self._said.append, Limits().printed_bytes)

    @property
    def printed(self) -> str:
        return "".join(self._said)

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        if self._runner is None:
            assert self._broken is not None
            return self._broken
        return reports.event(self._runner.advance(view), self._steps, self._lines)

    def close(self) -> None:
        running = self._runner._running if self._runner else None
        self._runner = None
        if running is not None:
            with suppress(BaseException):  # generated code may raise anything while it is being closed
                running.close()
