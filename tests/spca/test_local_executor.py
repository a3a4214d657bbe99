"""Generated code inside this process: the executor contract, and code that breaks the rules of good behaviour."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from spca.contracts import AgentSource, Executor, Failed, Status, Yielded
from spca.sandbox.local import LocalExecutor
from tests.contracts.executing import codes, failure, methods, pointed_at, run, steps, view
from tests.contracts.executor_suite import ExecutorSuite


class TestLocalExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self) -> Executor:
        return LocalExecutor()


@pytest.mark.parametrize("raised", ["SystemExit(3)", "GeneratorExit", "BaseException('odd')"])
def test_what_is_no_plain_exception_is_a_runtime_error_too(raised: str) -> None:
    events = run(LocalExecutor(), methods(f"def go(self):\n    yield 1\n    raise {raised}"), steps("go"))
    assert codes(events) == [1]
    failed = failure(events)
    assert failed.status is Status.RUNTIME_ERROR
    assert pointed_at(failed) == [(4, "go", f"raise {raised}")]


def test_an_exception_without_words_is_told_by_its_name() -> None:
    source = AgentSource(
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n\n\n"
        "class Agent:\n    def go(self):\n        yield 1\n        raise Odd\n"
    )
    assert failure(run(LocalExecutor(), source, steps("go"))).message.startswith("Odd: ")


def test_a_yielded_value_without_words_is_a_runtime_error() -> None:
    source = AgentSource(
        "class Odd:\n    def __repr__(self):\n        raise ValueError('no words')\n\n\n"
        "class Agent:\n    def go(self):\n        yield Odd()\n"
    )
    assert failure(run(LocalExecutor(), source, steps("go"))).status is Status.RUNTIME_ERROR


@pytest.mark.parametrize(
    "member",
    [
        "@property\ndef inventory(self):\n    return None",
        "__slots__ = ()",
        "def __setattr__(self, name, value):\n    raise TypeError(name)",
    ],
)
def test_state_that_cannot_be_set_is_a_runtime_error(member: str) -> None:
    failed = failure(run(LocalExecutor(), methods(f"{member}\n\ndef go(self):\n    yield 1"), steps("go")))
    assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)
    assert failure(run(LocalExecutor(), methods(member), ())).position is None


def test_an_action_that_is_a_property_is_missing() -> None:
    source = methods("@property\ndef go(self):\n    raise ValueError")
    assert failure(run(LocalExecutor(), source, steps("go"))).status is Status.MISSING_METHOD


def test_our_own_future_imports_are_not_inherited() -> None:
    source = methods(
        "def go(self):\n    def helper(x: int): pass\n    yield 2 if helper.__annotations__['x'] is int else 0"
    )
    assert codes(run(LocalExecutor(), source, steps("go"))) == [2]


def test_a_traceback_keeps_its_innermost_frames() -> None:
    source = methods(
        "def go(self, depth=40):\n    yield from self.go(depth - 1) if depth else self.end()\n\n"
        "def end(self):\n    yield 1 / 0"
    )
    frames = pointed_at(failure(run(LocalExecutor(), source, steps("go"))))
    assert len(frames) == 8
    assert frames[-1] == (6, "end", "yield 1 / 0")


def test_a_yield_from_a_plain_list_has_the_line_of_the_generator() -> None:
    (first, *_) = run(LocalExecutor(), methods("def go(self):\n    yield from [4, 5]"), steps("go"))
    assert isinstance(first, Yielded)
    assert first.step.line == 3


def test_an_interrupt_passes_through() -> None:
    source = methods("def go(self):\n    yield 1\n    raise KeyboardInterrupt")
    episode = LocalExecutor().start(source, steps("go"), ())
    episode.advance(view())
    with pytest.raises(KeyboardInterrupt):
        episode.advance(view())


@pytest.mark.parametrize("text", ["raise KeyboardInterrupt", "class Agent:\n    raise KeyboardInterrupt"])
def test_an_interrupt_while_loading_passes_through(text: str) -> None:
    with pytest.raises(KeyboardInterrupt):
        LocalExecutor().start(AgentSource(text), (), ()).advance(view())


def test_an_interrupt_while_closing_passes_through() -> None:
    source = methods("def go(self):\n    try:\n        yield 1\n    finally:\n        raise KeyboardInterrupt")
    episode = LocalExecutor().start(source, steps("go"), ())
    episode.advance(view())
    with pytest.raises(KeyboardInterrupt):
        episode.close()


def test_code_that_will_not_close_does_no_harm() -> None:
    source = methods("def go(self):\n    try:\n        yield 1\n    finally:\n        raise SystemExit(9)")
    episode = LocalExecutor().start(source, steps("go"), ())
    episode.advance(view())
    episode.close()


def test_compiling_warns_nobody() -> None:
    """Warnings are errors here: a doubtful escape must not become a failure of the code."""
    assert codes(run(LocalExecutor(), methods("def go(self):\n    '\\d'\n    yield 1"), steps("go"))) == [1]


def test_a_file_of_the_sources_name_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "agent_tmp.py").write_text("THE WRONG TEXT\n" * 9)
    script = (
        "from tests.contracts.executing import *\nfrom spca.sandbox.local import LocalExecutor\n"
        "print(failure(run(LocalExecutor(), methods('def go(self):\\n    yield 1 / 0'), steps('go'))).traceback)"
    )
    root = Path(__file__).parents[2]
    answer = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "yield 1 / 0" in answer.stdout
    assert "WRONG" not in answer.stdout


def test_a_failed_load_is_told_again_when_asked_again() -> None:
    episode = LocalExecutor().start(AgentSource("class"), steps("go"), ())
    first = episode.advance(view())
    assert isinstance(first, Failed)
    assert episode.advance(view()) == first
