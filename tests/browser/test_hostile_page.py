"""Whatever models and files say stays text in a real browser: it does not run, load, or break the page."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LEVELS
from tests.support import browsing
from tests.support.browsing import Visit, unfold
from tests.support.commands import main_py, read
from tests.support.tiers import long

SOLVED_OR_STUCK = [f"/run/0/level/{number}" for number in range(1, len(LEVELS))]
CRASHED = f"/run/0/level/{len(LEVELS)}"
"""The page with the most kinds of text."""

MARKUP = (
    "</script></style></textarea></title>--><script>window.ran=1</script><img src=x onerror=window.ran=1>"
    '<svg onload="window.ran=1"><iframe srcdoc="<script>parent.ran=1</script>"></iframe>'
    '<a href="javascript:window.ran=1">'
    "<meta http-equiv=refresh content='0;url=http://127.0.0.1:9/'><base href='http://127.0.0.1:9/'>{{7*7}}${7*7}"
)
HIDDEN = "\x1b]0;ran\x07\x1b[2J\u202egnp.exe\u2066\u200b\x00"
HOSTILE = f"{MARKUP}{HIDDEN}"
STRUCTURE = frozenset(
    {
        "event",
        "outcome",
        "status",
        "phase",
        "agent",
        "agent_file",
        "trajectory",
        "transcript",
        "run_id",
        "env_id",
        "name",
    }
    | {"start_hash", "end_hash", "state_hash", "mode", "category", "run", "sandbox", "key", "source", "git_commit"}
)
"""Fields without which there would be nothing to show; all other texts are made hostile."""


def poisoned(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: poisoned(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, key) for item in value]
    return f"{value}{HOSTILE}" if isinstance(value, str) and key not in STRUCTURE else value


def poison(run: Path) -> None:
    """Append hostile text to everything in a run folder that is text."""
    for path in run.rglob("*.json"):
        if path.name != "curriculum.json":
            path.write_text(json.dumps(poisoned(read(path))), encoding="utf-8")
    for path in run.glob("*.jsonl"):
        lines = [json.dumps(poisoned(json.loads(line))) for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    for path in run.glob("agents/*.py"):
        text = path.read_text(encoding="utf-8").replace("yield 0", f"yield 0  # {MARKUP} \u202e")
        path.write_text(text + f'\n"""{MARKUP}"""\n', encoding="utf-8")


@pytest.fixture(scope="module")
def hostile_report(failing_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("hostile") / "runs" / failing_run.name
    shutil.copytree(failing_run, run)
    poison(run)
    made = main_py(run.parent, "report", run)
    assert made.returncode == 0, made.stderr
    assert "\x1b" not in made.stdout
    assert "\u202e" not in made.stdout
    return run / "report.html"


@pytest.mark.parametrize("route", ["/", "/compare/0", *map(long, SOLVED_OR_STUCK), CRASHED])
def test_hostile_text_stays_text(visit: Visit, hostile_report: Path, route: str) -> None:
    page = visit.open(browsing.address(hostile_report, route))
    browsing.settle(page)
    unfold(page)
    shown = page.locator("body").inner_text()
    assert "<script>window.ran=1</script>" in shown
    assert not {c for c in HIDDEN if not c.isprintable()} & set(shown)
    assert page.evaluate("window.ran") is None
    assert page.locator("img, iframe, object, embed, base, [onload], [onerror], a[href^=javascript]").count() == 0
    assert page.locator("script:not([data-piece])").count() == 1
    assert [asked for asked in visit.requests if not asked.startswith("data:")] == []
    expect(page.get_by_role("heading", level=1)).to_be_visible()


def test_control_characters_are_spelled_out(visit: Visit, hostile_report: Path) -> None:
    page = visit.open(browsing.address(hostile_report, "/run/0/level/3"))
    failure = page.locator("#failure").inner_text()
    assert "␛[2J⟨U+202E⟩gnp.exe" in failure


def test_an_address_that_means_nothing_is_no_page_and_no_harm(visit: Visit, hostile_report: Path) -> None:
    for route in (
        "/run/9/level/1",
        "/run/0/level/999",
        "/compare/7",
        "/<img src=x onerror=window.ran=1>",
        "/run/__proto__",
    ):
        page = visit.open(browsing.address(hostile_report, route))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        assert page.evaluate("window.ran") is None
