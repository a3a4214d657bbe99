"""Generated code driven without a sandbox: the executor contract, and code that breaks the rules of good behaviour."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource, Status
from spca.protocols import Executor, Failed, Yielded
from spca.sandbox.process.runner import PreviousActions
from spca.testing import ExecutorSuite
from spca.testing.generated_code import make_view
from tests.support.contracts.executing import codes, failure, methods, pointed_at, run, steps
from tests.support.inprocess import InProcessExecutor


class TestInProcessExecutor(ExecutorSuite):
    @pytest.fixture
    def executor(self) -> Executor:
        return InProcessExecutor()


def outcome(source: AgentSource, *names: str) -> Failed:
    return failure(run(InProcessExecutor(), source, steps(*names)))


@pytest.mark.parametrize("raised", ["SystemExit(3)", "GeneratorExit", "KeyboardInterrupt", "BaseException('odd')"])
def test_what_is_no_plain_exception_is_a_runtime_error_too(raised: str) -> None:
    events = run(InProcessExecutor(), methods(f"def go(self):\n    yield 1\n    raise {raised}"), steps("go"))
    assert codes(events) == [1]
    failed = failure(events)
    assert failed.status is Status.RUNTIME_ERROR
    assert pointed_at(failed) == [(4, "go", f"raise {raised}")]


def test_an_exception_without_words_is_told_by_its_name() -> None:
    source = AgentSource(
        "class Odd(Exception):\n    def __str__(self):\n        raise ValueError\n\n\n"
        "class Agent:\n    def go(self):\n        yield 1\n        raise Odd\n"
    )
    assert outcome(source, "go").message.startswith("Odd: ")


def test_want_of_memory_is_told_in_words() -> None:
    assert outcome(methods("def go(self):\n    yield 1\n    raise MemoryError"), "go").message == (
        "MemoryError: more memory than an episode may use"
    )


@pytest.mark.parametrize(
    "member",
    [
        "__repr__(self):\n        raise ValueError",
        "__index__(self):\n        return 2",
        "__int__(self):\n        return 2",
    ],
)
def test_an_object_that_poses_as_a_code_is_refused(member: str) -> None:
    source = AgentSource(f"class Odd:\n    def {member}\n\n\nclass Agent:\n    def go(self):\n        yield Odd()\n")
    failed = outcome(source, "go")
    assert failed.status is Status.RUNTIME_ERROR
    assert "yielded" in failed.message


@pytest.mark.parametrize(("value", "accepted"), [(3, True), (7, False), (99, False)])
def test_the_true_value_of_a_lying_integer_counts(value: int, accepted: bool) -> None:
    source = AgentSource(
        "class Liar(int):\n    def __le__(self, other): return True\n    __lt__ = __ge__ = __gt__ = __eq__ = __le__\n"
        "    def __int__(self): return 2\n    __index__ = __int__\n    __hash__ = int.__hash__\n\n\n"
        f"class Agent:\n    def go(self):\n        yield Liar({value})\n"
    )
    events = run(InProcessExecutor(), source, steps("go"))
    assert codes(events) == ([value] if accepted else [])


def test_members_of_an_enumeration_are_codes() -> None:
    source = AgentSource(
        "from enum import IntEnum\n\n\nclass Agent:\n    def go(self):\n"
        "        class Move(IntEnum):\n            AHEAD = 2\n        yield Move.AHEAD\n"
    )
    (first, *_) = codes(run(InProcessExecutor(), source, steps("go")))
    assert (first, type(first)) == (2, int)


@pytest.mark.parametrize(
    "member",
    [
        "@property\ndef inventory(self):\n    return 'key grey'",
        "inventory = 'key grey'",
        "def __setattr__(self, name, value):\n    raise TypeError(name)",
        "__slots__ = ()",
    ],
)
def test_the_agent_class_cannot_replace_its_state(member: str) -> None:
    source = methods(f"{member}\n\ndef go(self):\n    yield 1 if self.inventory is None else 0")
    assert codes(run(InProcessExecutor(), source, steps("go"))) == [1]


def test_a_metaclass_that_refuses_the_state_is_a_syntax_error() -> None:
    source = AgentSource(
        "class Stubborn(type):\n    def __setattr__(cls, name, value):\n        raise TypeError(name)\n\n\n"
        "class Agent(metaclass=Stubborn):\n    def go(self):\n        yield 1\n"
    )
    assert outcome(source, "go").status is Status.SYNTAX_ERROR


def test_an_action_that_is_a_property_is_missing() -> None:
    source = methods("@property\ndef go(self):\n    raise ValueError")
    assert outcome(source, "go").status is Status.MISSING_METHOD


def test_our_own_future_imports_are_not_inherited() -> None:
    source = methods(
        "def go(self):\n    def helper(x: int): pass\n    yield 2 if helper.__annotations__['x'] is int else 0"
    )
    assert codes(run(InProcessExecutor(), source, steps("go"))) == [2]


def test_a_traceback_keeps_its_innermost_frames() -> None:
    source = methods(
        "def go(self, depth=40):\n    yield from self.go(depth - 1) if depth else self.end()\n\n"
        "def end(self):\n    yield 1 / 0"
    )
    frames = pointed_at(outcome(source, "go"))
    assert len(frames) == 8
    assert frames[-1] == (6, "end", "yield 1 / 0")


def test_a_yield_from_a_plain_list_has_the_line_of_the_generator() -> None:
    (first, *_) = run(InProcessExecutor(), methods("def go(self):\n    yield from [4, 5]"), steps("go"))
    assert isinstance(first, Yielded)
    assert first.step.line == 3


def test_compiling_warns_nobody() -> None:
    """Warnings are errors here: a doubtful escape must not become a failure of the code."""
    assert codes(run(InProcessExecutor(), methods("def go(self):\n    '\\d'\n    yield 1"), steps("go"))) == [1]


@pytest.mark.long
def test_a_file_of_the_sources_name_is_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "agent_tmp.py").write_text("THE WRONG TEXT\n" * 9)
    script = (
        "from tests.support.contracts.executing import *\nfrom tests.support.inprocess import InProcessExecutor\n"
        "print(failure(run(InProcessExecutor(), methods('def go(self):\\n    yield 1 / 0'), steps('go'))).traceback)"
    )
    root = Path(__file__).parents[4]
    answer = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "yield 1 / 0" in answer.stdout
    assert "WRONG" not in answer.stdout


def test_a_failure_is_told_again_when_asked_again() -> None:
    for text in ("class", "class Agent:\n    def go(self):\n        yield 9\n"):
        with closing(InProcessExecutor().start(AgentSource(text), steps("go"), (), GRID)) as episode:
            first = episode.advance(make_view())
            assert isinstance(first, Failed)
            assert episode.advance(make_view()) == first


def test_the_grid_is_decoded_once_for_each_state() -> None:
    source = methods("def go(self):\n    yield int(self.full_grid is self.full_grid)\n    yield 0")
    assert codes(run(InProcessExecutor(), source, steps("go")))[0] == 1


@pytest.mark.parametrize(
    "change",
    ["append(1)", "extend([1])", "insert(0, 1)", "remove(5)", "pop()", "clear()", "sort()", "reverse()",
     "__setitem__(0, 1)", "__delitem__(0)", "__iadd__([1])", "__imul__(2)"],
)  # fmt: skip
def test_previous_actions_are_a_list_that_cannot_be_changed(change: str) -> None:
    past = PreviousActions([5, 6])
    with pytest.raises(TypeError, match="previous_actions is read-only"):
        eval(f"past.{change}")  # noqa: S307 - our own text
    assert past == [5, 6]
    assert past[1:] == [6]
    assert [*past, 1] == past + [1] == [5, 6, 1]  # noqa: RUF005 - both are meant
    assert np.bincount(past).tolist() == [0, 0, 0, 0, 0, 1, 1]
