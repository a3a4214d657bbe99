"""The examples that ship: recorded runs of real models, repeated offline to the same result."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.llm.calls.packed import PACKED
from spca.report.example import ABOUT
from tests.support.commands import main_py, only_run, read
from tests.support.spca.doubles import ROOT

EXAMPLES = sorted(path.parent for path in (ROOT / "examples").glob(f"*/{ABOUT}"))
pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.long,
]


def test_they_are_small() -> None:
    assert 0 < sum((example / PACKED).stat().st_size for example in EXAMPLES) <= 3 << 20


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_example_ends_as_it_was_recorded(example: Path, tmp_path: Path) -> None:
    """Its prompts may have changed since, but no call is missing and no level is lost."""
    about = read(example / ABOUT)
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace")
    done = main_py(ROOT, "--planner-model", f"replay/examples/{example.name}", *about["flags"], *where)
    assert (done.returncode, done.stderr) == (0, "")
    summary = read(only_run(tmp_path / "runs") / "summary.json")
    figures = ("levels", "finished", "solved")
    assert [summary[name] for name in figures] == [about[name] for name in figures]
    assert summary["usage"]["requests"] == sum(about["calls"].values())
