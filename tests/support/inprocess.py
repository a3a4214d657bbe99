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
from typing import Any

from spca.body import Body, StateKind
from spca.code.agent_source import split_lines
from spca.code.call_binding import arguments_of
from spca.contracts import AgentSource, AgentView, PlanStep
from spca.protocols import Failed, Finished, Yielded
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.process import reports, wire
from spca.sandbox.process.runner import FILENAME, Runner, protect_value


@lru_cache(maxsize=8)
def _compiled(agent: AgentSource) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(agent.text, FILENAME, "exec", dont_inherit=True)


class InProcessExecutor:
    """Runs generated code right here."""

    def start(
        self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body
    ) -> InProcessEpisode:
        return InProcessEpisode(agent, steps, previous, body)


class InProcessEpisode:
    """One plan; ``printed`` is what the code has printed so far."""

    def __init__(self, agent: AgentSource, steps: Sequence[PlanStep], previous: Sequence[int], body: Body) -> None:
        self._interface = body.interface
        self._lines, self._steps = split_lines(agent.text), tuple(steps)
        self._said: list[str] = []
        self._runner: Runner | None = None
        self._broken: Failed | None = None
        try:
            module = _compiled(agent)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            self._broken = reports.syntax_error(error, agent)
            return
        self._plan = tuple((step.action, arguments_of(agent.text, step)) for step in steps)
        self._module, self._previous = module, tuple(previous)

    @property
    def printed(self) -> str:
        return "".join(self._said)

    def advance(self, view: AgentView) -> Yielded | Finished | Failed:
        if self._broken is not None:
            return self._broken
        if self._runner is None:
            self._runner = self._begin(view.words)
        answer = self._runner.advance(self._protect(view.values))
        return reports.event(answer, self._steps, self._lines, len(self._interface.primitives))

    def _protect(self, values: Sequence[Any]) -> list[Any]:
        """The values without a way to change them, as those of the worker are."""
        protected = list(values)
        for index, (_name, kind) in enumerate(self._interface.attributes):
            if kind == StateKind.NUMBERS:
                protected[index] = values[index].view()
                protected[index].flags.writeable = False
            elif kind == StateKind.VALUE:
                protected[index] = protect_value(values[index])
        return protected

    def _begin(self, words: tuple[str, ...]) -> Runner:
        """The runner that the worker makes; a view is the first to tell the words."""
        start = wire.Start(
            module=self._module,
            primitives=self._interface.primitives,
            attributes=self._interface.attributes,
            steps=self._plan,
            previous=self._previous,
            words=words,
            print_limit=Limits().printed_bytes,
        )
        return wire.make_runner(start, self._said.append)

    def close(self) -> None:
        running = self._runner._running if self._runner else None
        self._runner = None
        if running is not None:
            with suppress(BaseException):  # generated code may raise anything while it is being closed
                running.close()
