"""Source from outside ends in a PatchError at worst, and costs the host at most a second of processor time."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path

import pytest

from spca.code import agent_source, compilation, library, merge
from spca.code.policy import check as policy
from spca.common.errors import SettingsError
from spca.contracts import AgentSource
from spca.errors import PatchError
from spca.llm.calls.answers import MAX_CHARS
from spca.runs.workspace import Workspace
from tests.support import untrusted
from tests.support.bodies import grid
from tests.support.tiers import few
from tests.support.timing import cpu_seconds

ROOT = Path(__file__).parents[3]
INITIAL = (ROOT / "agent.py").read_text(encoding="utf-8")
HEX = "0x" + "f" * 3600
GO = "def go(self, x):\n    yield 2\n"
LONE_BACKSLASH = "def go(self, x):\n    y = 1\n\\\n    if y:\n        yield 2\n    yield 3\n"
NUMBERS = {
    "constant": f"LIMIT = {HEX}\n{GO}",
    "default": f"def go(self, x, y={HEX}):\n    yield 2\n",
    "negative default": f"def go(self, x, y=-{HEX}):\n    yield 2\n",
    "body": f"def go(self, x):\n    y = {HEX}\n    yield 2\n",
    "pattern": f"def go(self, x):\n    match x:\n        case {HEX}: pass\n    yield 2\n",
}


def coder_call(answer: str, base: str = INITIAL) -> str:
    return untrusted.coder_call(answer, base)


def agent_with(source: str) -> str:
    """An agent that has some lines of source as methods or constants of its class."""
    return INITIAL + "".join(line if line == "\\\n" else f"    {line}" for line in source.splitlines(keepends=True))


@pytest.mark.parametrize("answer", NUMBERS.values(), ids=NUMBERS)
def test_a_number_too_large_to_be_written_out_goes_back_to_the_coder(answer: str) -> None:
    with pytest.raises(PatchError, match=r"^line \d: a number of more than 1000 digits; compute it from others$"):
        coder_call(answer)


def test_numbers_may_be_large() -> None:
    assert "1" * 999 in coder_call(f"LIMIT = {'1' * 999}\n{GO}")


def test_what_only_the_compiler_reads_goes_back_to_the_coder() -> None:
    compile(LONE_BACKSLASH, "x", "exec")
    with pytest.raises(PatchError, match=r"^syntax error at line 6: unindent does not match"):
        coder_call(LONE_BACKSLASH)


@pytest.mark.parametrize("answer", [*NUMBERS.values(), LONE_BACKSLASH], ids=[*NUMBERS, "lone backslash"])
def test_an_agent_to_continue_from_is_refused_in_one_line(tmp_path: Path, answer: str) -> None:
    (tmp_path / "agent.py").write_text(agent_with(answer), encoding="utf-8")
    with pytest.raises(SettingsError, match=r"^--keep-agent: \S+agent\.py: .*line \d+: ") as caught:
        grid.kept_agent(Workspace(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        SyntaxError("no"),
        RecursionError("no"),
        MemoryError(),
        OverflowError("no"),
        SystemError("no"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
    ],
    ids=lambda error: type(error).__name__,
)
@pytest.mark.parametrize(
    "read",
    [
        agent_source.layout,
        agent_source.signatures,
        merge.extract_code,
        lambda text: grid.merge(INITIAL, text),
        lambda text: agent_source.find_changed_methods(INITIAL, text),
        lambda text: grid.check_patch(text, INITIAL),
        lambda text: grid.check_agent(AgentSource(text)),
    ],
    ids=["layout", "signatures", "extract", "merge", "changed", "patch", "agent"],
)
def test_whatever_python_raises_on_a_text_is_a_patch_error(
    read: Callable[[str], object], error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise error

    text = agent_with(f"# {error!r}\n{GO}")
    monkeypatch.setattr(compilation, "code", fail)
    monkeypatch.setattr("spca.code.agent_source.tokenize.generate_tokens", fail)
    if read is merge.extract_code:
        assert read(text)  # what is wrong is told when it is merged
        return
    with pytest.raises(PatchError):
        read(text)


def test_a_docstring_of_escapes_can_be_written_into_a_prompt() -> None:
    merged = coder_call('def go(self, x):\n    """\\ud800 Go\\x1b[31m."""\n    yield 2\n')
    assert "go(x) - Go [31m." in library.action_listing(merged, "")


@cache
def largest() -> str:
    """An agent about as large as the limits allow: methods as people write them, and one that calls them all."""
    method = '''def step_{n}(self, x, limit=9):
    """Walk on to x, at most so many steps.

    Once more after each step that was not the last; the map tells where x is.
    """
    for turn in range(limit):
        if self.full_grid[turn, 0] == x and turn < limit - 1:
            yield from self.step_{n}(x, limit - 1)  # once more
        yield self.move_forward()
'''
    wanted = "".join(method.format(n=n) for n in range(460))
    calls = "".join(f"    yield from self.step_{n}(x)\n" for n in range(460))
    return grid.merge(INITIAL, f"{wanted}def all_of_them(self, x):\n{calls}").text


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> None:
    for function in (agent_source._parse, agent_source.layout, agent_source.methods_of, agent_source._bindings):
        function.cache_clear()
    policy._refusal.cache_clear()


def many(line: str, tail: str = "", size: int = MAX_CHARS) -> str:
    """A line as often as it fits into an answer, ``{n}`` numbered, behind it ``tail``."""
    lines = list[str]()
    left = size - len(tail)
    while (left := left - len(text := line.replace("{n}", str(len(lines))))) >= 0:
        lines.append(text)
    return "".join(lines) + tail


def within(body: str, size: int = MAX_CHARS) -> str:
    return "def go(self, x):\n" + many(f"    {body}\n", "    yield 2\n", size - 20)


EXPENSIVE = {
    "prose": many("x = 3 is it\n"),
    "prose that begins like code": many("import this thing\n"),
    "broken code": many("def go(self, x):\n    yield 2\n", "\n oops ("),
    "fences": many("```python\nx\n"),
    "fences in a line": "   ```" * 16_000,
    "blank lines": "\n \n" * 33_000,
    "spaces": " \t" * 49_000 + "\n```",
    "open brackets": within("y = " + "[{(" * 30 + "1"),
    "open dictionaries": "def go(self, x):\n    y = " + "{1:" * 95,
    "lambdas": within("y = " + "lambda:" * 90 + "1"),
    "minus": "def go(self, x):\n    y = " + "-" * 90_000 + "1",
    "sum": "def go(self, x):\n    y = " + "1+" * 29_000 + "1",
    "attributes": "def go(self, x):\n    y = x" + ".a" * 29_000,
    "semicolons": "def go(self, x):\n    yield 2;" + "y=1;" * 14_000,
    "constants": many("C{n} = {n}\n", GO),
    "constants in a line": many("C{n}={n};", GO, 50_000).replace(";def", "\ndef"),
    "strings of lines": 'S = """' + "\n" * 50_000 + '"""\n' + many("def m{n}(self):\n    yield 1\n", GO, 48_000),
    "methods": many("def m{n}(self):\n    yield 1\n", GO, 54_000),
    "methods with comments": many("# a\n# b\ndef m{n}(self):\n    yield 1\n    # c\n\n\n\n", GO, 90_000),
    "decorators": "@property\n" * 9_000 + GO,
    "formatted strings": "def go(self, x):\n    yield 2\n    y = f'" + "{x}" * 3900 + "a" * 80_000 + "'",
    "formats of one string": "def go(self, x):\n    a = '"
    + "{x.y}" * 3900
    + "'\n"
    + "    a.format(x=1)\n" * 4_000
    + "    yield 2",
    "enums of one string": "from enum import Enum\ndef go(self, x):\n    a = '"
    + "a " * 20_000
    + "'\n"
    + "    Enum('E', a)\n" * 2_500
    + "    yield 2",
    "faults": within("open()"),
    "modules": many("import os{n}\n", GO),
    "long name": f"def {'a' * 90_000}(self):\n    yield 1\n{GO}",
    "parameters": f"def go(self, x, {many('a{n}=0, ', '', 80_000)}):\n    yield 2\n",
    "escapes": "def go(self, x):\n    y = '" + "\\n" * 45_000 + "'\n    yield 2\n",
    "digits": "def go(self, x):\n    y = " + "9" * 90_000 + ".0\n    yield 2\n",
    "cases": "def go(self, x):\n    match x:\n" + many("        case {n}: pass\n", "", 90_000) + "    yield 2\n",
    "comprehensions": within("y = [a for a in x]", 44_000),
    "functions": within("def f(): pass", 30_000),
}


AGENT = "the largest agent"
COSTS = EXPENSIVE | {AGENT: GO}


def attempted(answer: str, base: str) -> None:
    with suppress(PatchError):
        coder_call(answer, base)


def print_costs(names: Sequence[str]) -> None:
    """Print the seconds of these cases as JSON, for :func:`costs`."""
    print(
        json.dumps(
            {
                name: cpu_seconds(partial(attempted, COSTS[name], largest() if name == AGENT else INITIAL), 1)
                for name in names
            }
        )
    )


@pytest.fixture(scope="module")
def costs(request: pytest.FixtureRequest) -> dict[str, float]:
    """CPU seconds of every case that is tested, in a process of its own, in which nothing is traced."""
    items = [item for item in request.session.items if "costs" in getattr(item, "fixturenames", ())]
    names = [item.callspec.params["name"] for item in items if isinstance(item, pytest.Function)]
    program = f"from tests.spca.code.test_untrusted_source import print_costs; print_costs({names})"
    clean = {name: value for name, value in os.environ.items() if not name.startswith("COV")}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("name", few(5, COSTS))
def test_an_answer_as_long_as_can_be_costs_less_than_a_second(name: str, costs: dict[str, float]) -> None:
    assert len(COSTS[name]) <= MAX_CHARS
    assert costs[name] < 1


@pytest.mark.long
def test_the_largest_agent_is_nearly_as_large_as_can_be() -> None:
    assert len(largest()) > 0.85 * compilation.MAX_BYTES
    assert sum(1 for _ in ast.walk(ast.parse(largest()))) > 0.75 * compilation.MAX_NODES
    assert "def go(self, x)" in coder_call(GO, largest())
