"""What tests of the sandbox ask of episodes and processes."""

from __future__ import annotations

import os
import time
from pathlib import Path

from spca.contracts import AgentSource
from spca.sandbox.episode import SandboxEpisode
from spca.sandbox.executor import SandboxExecutor
from tests.contracts.executing import steps


def unmeasured() -> dict[str, str]:
    """The environment for a process that coverage is not measured in: it may become another user, or be slow."""
    return {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}


def opened(executor: SandboxExecutor, source: AgentSource, *names: str) -> SandboxEpisode:
    episode = executor.start(source, steps(*names), ())
    assert isinstance(episode, SandboxEpisode)
    return episode


def is_gone(pid: int) -> bool:
    """Whether there is no such process, not even one that waits to be reaped."""
    return not Path(f"/proc/{pid}").exists()


def await_gone(pid: int, seconds: float = 5.0) -> bool:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and not is_gone(pid):
        time.sleep(0.01)
    return is_gone(pid)


def children_of(pid: int) -> list[str]:
    return [text for task in Path(f"/proc/{pid}/task").iterdir() for text in (task / "children").read_text().split()]
