"""What tests of the sandbox ask of episodes and processes."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.process.episode import SandboxEpisode
from tests.support.contracts.executing import steps
from tests.support.waiting import becomes


def unmeasured() -> dict[str, str]:
    """The environment for a process that coverage is not measured in: it may become another user, or be slow."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def opened(executor: SandboxExecutor, source: AgentSource, *names: str) -> SandboxEpisode:
    episode = executor.start(source, steps(*names), (), GRID)
    assert isinstance(episode, SandboxEpisode)
    return episode


def is_gone(pid: int) -> bool:
    """Whether there is no such process, not even one that waits to be reaped."""
    return not Path(f"/proc/{pid}").exists()


def await_gone(pid: int) -> bool:
    """Whether the process ends; one that stays is killed, so that it is not left to other tests."""
    if becomes(lambda: is_gone(pid)):
        return True
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return False


def children_of(pid: int) -> list[str]:
    return [text for task in Path(f"/proc/{pid}/task").iterdir() for text in (task / "children").read_text().split()]
