"""Problem writers on the page of a run: which of them planned which level."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from spca.contracts import ProblemWriter, Status
from spca.runs.results import DraftDecision
from spca.writers.stored import StoredWriter, Tally
from tests.support import browsing
from tests.support.commands import main_py
from tests.support.report.making import Writing

LABEL = "fetch_key_from_room_unlock_door_reach_goal/v002"
NAME, _, _ = LABEL.partition("/")
SOURCE = "def make_problem(snapshot):\n    return 'a problem'\n"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of a run: level 1 brings a writer, which plans level 2, and fails at level 3, where a model plans."""
    writing = Writing(tmp_path_factory.mktemp("writers"))
    tallies = {"unlock": Tally(failed=2)}
    stored = [StoredWriter(ProblemWriter(NAME, "(define (domain keys))", SOURCE), 2, "x", failed=2, tallies=tallies)]
    writing.begin()
    writing.plan()
    writing.act()
    writing.finish(writers=stored, considered=DraftDecision(NAME, LABEL, ""))
    writing.begin()
    writing.store(LABEL)
    writing.carry_out(LABEL)
    writing.finish(writers=stored)
    writing.begin()
    writing.store(LABEL)
    writing.carry_out(LABEL, Status.STUCK)
    writing.plan()
    writing.act()
    writing.finish(writers=stored)
    made = main_py(writing.path.parent, "report", writing.path)
    assert made.returncode == 0, made.stderr
    return writing.path / "report.html"


@pytest.fixture(params=[1200])
def page(request: pytest.FixtureRequest, chromium: Browser, report: Path) -> Iterator[Page]:
    """The overview of that run in a window of so many pixels."""
    with browsing.visit(chromium, width=request.param) as made:
        yield made.open(browsing.address(report))
    assert made.complaints == []


@pytest.mark.long
def test_a_level_names_the_writer_that_planned_it_and_is_found_by_it(page: Page) -> None:
    rows = page.locator("#level-table tbody tr")
    expect(rows).to_have_count(3)
    assert [LABEL in row.inner_text() for row in rows.all()] == [False, True, False]
    strips = [row.locator(".strip").get_attribute("aria-label") for row in rows.all()]
    assert strips == ["round 1: P A", "stored writers: W A", "stored writers: W A, 1 failed; round 1: P A"]
    expect(page.locator("p.key")).to_contain_text("W plan of a stored problem writer")
    page.get_by_placeholder("number, name").fill("reach_goal/v002")
    expect(rows).to_have_count(1)
    expect(rows.locator(".c-number")).to_have_text("2")


def test_the_table_of_levels_fits_into_its_box(page: Page) -> None:
    table = page.get_by_role("region", name="Table of levels")
    assert table.evaluate("box => box.scrollWidth - box.clientWidth") == 0


def test_the_source_of_a_writer_is_one_click_from_what_it_planned(page: Page) -> None:
    writers = page.get_by_role("region", name="Table of problem writers")
    source = page.get_by_role("group").filter(has_text="def make_problem(snapshot):").last
    expect(writers).to_contain_text("left out: 2 wrong plans in categories of which it has solved no level")
    page.locator("#level-table").get_by_role("link", name=LABEL).click()
    expect(source).to_be_in_viewport()
    page.go_back()
    writers.get_by_role("link", name="1 level", exact=True).click()
    expect(page.locator("#level-table tbody tr")).to_have_count(1)
    page.locator("#level-table").get_by_role("link", name="MiniGrid").click()
    page.get_by_role("link", name=LABEL).first.click()
    expect(source).to_be_in_viewport()
    page.go_back()
    page.go_back()
    writers.get_by_role("link", name=LABEL).click()
    expect(source).to_be_in_viewport()
