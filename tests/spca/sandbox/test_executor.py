"""Generated code in the sandbox: the executor contract, what it can know, and doing without."""

from __future__ import annotations

import os
import random
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from spca.bodies.grid.body import GRID
from spca.body import AgentInterface
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import PatchError
from spca.protocols import Executor, Failed, Yielded
from spca.sandbox import executor as executor_module
from spca.sandbox.executor import SandboxExecutor, default_executor
from spca.testing import ExecutorSuite
from spca.testing.generated_code import make_view
from tests.support.bodies.cat import CAT, see
from tests.support.contracts.executing import Event, codes, failure, methods, run, steps
from tests.support.inprocess import InProcessExecutor
from tests.support.spca.sandboxing import opened


class TestSandboxExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self, sandboxed: SandboxExecutor) -> Executor:
        return sandboxed


def test_the_gate_refuses_before_anything_is_executed() -> None:
    def refuse(_agent: AgentSource, interface: AgentInterface) -> None:
        assert interface is GRID.interface
        raise PatchError("line 3: no")

    with SandboxExecutor(check=refuse) as executor:
        assert run(executor, methods("def go(self):\n    yield 1"), steps("go")) == [
            Failed(Status.SYNTAX_ERROR, "line 3: no")
        ]
        assert executor.level == "", "not even a process was started"


def test_the_default_gate_is_the_policy() -> None:
    assert codes(run(default_executor(), methods("def go(self):\n    yield 1"), steps("go"))) == [1]
    for body, said in (("import os", "os"), ("self.full_grid[0, 0] = 'wall'", "full_grid")):
        failed = failure(run(default_executor(), methods(f"def go(self):\n    {body}\n    yield 1"), steps("go")))
        assert (failed.status, failed.position) == (Status.SYNTAX_ERROR, None)
        assert failed.message.startswith("line 3: ")
        assert said in failed.message


def test_equal_randomness_in_every_episode(sandboxed: SandboxExecutor) -> None:
    source = AgentSource(
        "import random\nimport numpy as np\n\n\nclass Agent:\n    def go(self):\n        for _ in range(20):\n"
        "            yield random.randrange(7)\n            yield int(np.random.randint(7))\n"
        "            yield hash(('door', self.mission)) % 7\n"
    )
    first, second = (codes(run(sandboxed, source, steps("go"), limit=100)) for _ in range(2))
    assert first == second
    assert len(set(first)) > 3


def test_an_episode_finds_nothing_of_an_earlier_one(sandboxed: SandboxExecutor) -> None:
    """After a rollback the agent knows nothing that was seen later: not in modules, builtins, classes or memory."""
    plant = methods("""
        def go(self):
            import builtins, random, numpy, gc, os
            marker = "-".join(("seen", "later", self.mission))
            builtins.kept = random.kept = numpy.kept = marker
            os.environ["KEPT"] = marker
            numpy.ndarray.__doc__
            yield 1
    """)
    look = methods("""
        def go(self):
            import builtins, random, numpy, gc, os
            assert not any(hasattr(m, "kept") for m in (builtins, random, numpy))
            assert not os.environ
            texts = [o for o in gc.get_objects() if isinstance(o, (dict, list, tuple))]
            found = [t for o in texts for t in (o.values() if isinstance(o, dict) else o)
                     if isinstance(t, str) and t.startswith("-".join(("seen", "later")))]
            assert not found, found
            yield 2
    """)
    with closing(opened(sandboxed, plant, "go")) as episode:
        assert codes([episode.advance(make_view(mission="the way to the exit"))]) == [1]
    assert codes(run(sandboxed, look, steps("go"))) == [2]


def test_the_worker_is_told_no_more_than_the_view(sandboxed: SandboxExecutor) -> None:
    """Neither environment variables nor the host's memory: a canary of the host is nowhere in the worker's memory."""
    canary = f"canary-{random.randrange(10**12)}"
    os.environ["SPCA_TEST_CANARY"] = canary
    try:
        with closing(opened(sandboxed, methods("def go(self):\n    yield 1"), "go")) as episode:
            episode.advance(make_view(mission="a mission that is sent"))
            assert holds(episode.pid, b"a mission that is sent"), "the search finds what is there"
            assert not holds(episode.pid, canary.encode())
    finally:
        del os.environ["SPCA_TEST_CANARY"]


def holds(pid: int, text: bytes) -> bool:
    """Whether a process has ``text`` in its memory; skips where that cannot be read."""
    if os.geteuid() != 0:
        pytest.skip("only root may read the memory of another process")
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if rights.startswith("rw"):
                low, high = (int(end, 16) for end in span.split("-"))
                with suppress(OSError):
                    memory.seek(low)
                    if text in memory.read(high - low):
                        return True
    return False


@pytest.mark.long
def test_an_unsafe_executor_has_a_process_but_no_wall(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("5")
    source = methods(f"def go(self):\n    yield int(open({str(secret)!r}).read())")
    with SandboxExecutor(check=None, unsafe=True) as executor:
        assert executor.verify() == "unsafe"
        assert codes(run(executor, source, steps("go"))) == [5]
    with SandboxExecutor(check=None) as executor:
        assert executor.verify() in ("strict", "strict-nolandlock")
        assert "PermissionError" in failure(run(executor, source, steps("go"))).message


def test_the_default_executor_is_shared() -> None:
    assert default_executor() is default_executor()
    assert executor_module._make_process_executor(-1) is not default_executor()


def walk(seed: int) -> Callable[[Executor], list[Event]]:
    """A method that reads all of its state, on views that change."""
    source = methods("""
        def go(self):
            while True:
                seen = int((self.full_grid == "wall").sum()) + len(self.previous_actions) + len(self.mission)
                seen += ("East", "South", "West", "North").index(self.current_dir) + self.start_position[0]
                yield (seen + (self.current_observation == "key blue").sum()) % 7
    """)
    rng = np.random.default_rng(seed)
    views = [
        make_view(
            full_grid=rng.integers(0, 40, rng.integers(1, 30, 2)).astype(np.uint8),
            current_observation=rng.integers(0, 40, (7, 7)).astype(np.uint8),
            current_dir=("East", "South", "West", "North")[int(rng.integers(4))],
            mission=("a", "bc", "déf")[int(rng.integers(3))],
        )
        for _ in range(30)
    ]

    def play(executor: Executor) -> list[Event]:
        with closing(executor.start(source, steps("go"), [1] * (seed % 5), GRID)) as episode:
            return [episode.advance(shown) for shown in views]

    return play


CAT_SOURCE = methods("""
    def hunt(self, agent, prey):
        yield int(prey in self.room.tolist())
        assert list(self.previous_actions) == [1, 1], self.previous_actions
        yield int(self.hunger["fish"] > 2 and self.smells.sum() < 1)
        assert (self.room == "nothing").all()
        assert not hasattr(self, "full_grid")
        for writing in (self.room, self.smells):
            try:
                writing[0] = writing[0]
            except ValueError:
                continue
            raise AssertionError("it was written")
        yield 2
""")


@pytest.mark.parametrize("in_process", [True, False])
def test_an_agent_of_another_body_has_its_state_and_primitives(sandboxed: SandboxExecutor, in_process: bool) -> None:
    executor: Executor = InProcessExecutor() if in_process else sandboxed
    views = [see({"fish": 3}), see({"fish": 3}, smells=(0.25, 0.5)), see({"fish": 3}, room=(0,))]
    plan = (PlanStep("hunt", ("a1", "mouse")),)
    with closing(executor.start(CAT_SOURCE, plan, [1], CAT)) as episode:
        events = [episode.advance(shown) for shown in views]
    assert codes(events) == [1, 1]
    failed = failure(events)
    assert failed.status is Status.RUNTIME_ERROR
    assert failed.message == "yielded 2: actions yield primitive codes 0-1"


def test_the_gate_knows_the_names_of_the_body(sandboxed: SandboxExecutor) -> None:
    source = methods("def act(self):\n    self.hunger = 1\n    yield 1")
    for body, refused in ((CAT, True), (GRID, False)):
        with closing(sandboxed.start(source, steps("act"), (), body)) as episode:
            event = episode.advance(see() if body is CAT else make_view())
        assert isinstance(event, Failed) == refused


@pytest.mark.parametrize("seed", range(5))
def test_the_wall_changes_nothing(sandboxed: SandboxExecutor, seed: int) -> None:
    events = walk(seed)(sandboxed)
    assert events == walk(seed)(InProcessExecutor())
    assert all(isinstance(event, Yielded) for event in events)
