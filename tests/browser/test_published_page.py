"""The page of a comparison with the published run: it opens there, and shows of that run only what is known."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LEVELS
from tests.support import browsing
from tests.support.browsing import Visit
from tests.support.commands import main_py


@pytest.fixture(scope="module")
def compared(failing_run: Path) -> Path:
    page = failing_run.parent / "compared.html"
    made = main_py(failing_run.parent, "report", "--compare", failing_run, "published", "--output", page)
    assert made.returncode == 0, made.stderr
    return page


@pytest.mark.long
def test_a_comparison_begins_with_what_differs_in_both(visit: Visit, compared: Path) -> None:
    page = visit.open(browsing.address(compared, "/compare/0"))
    rows = page.locator("tbody:not(.totals) tr")
    chosen = page.locator("[data-show=differing]")
    expect(chosen).to_have_attribute("aria-pressed", "true")
    expect(chosen.locator(".n")).to_have_text(str(rows.count()))
    assert 0 < rows.count() <= len(LEVELS)
    assert page.get_by_text("not in it").count() == 0
    expect(page.locator(".totals tr").first.locator(".good-text, .bad-text")).to_have_count(0)
    expect(page.locator('a[href="#/compare/0"]:not([aria-current])')).to_have_count(0)
    page.locator("[data-show=b]").click()
    expect(page.get_by_text("not in it").first).to_be_visible()
    assert page.get_by_text("not in it").count() == rows.count()


def test_the_published_run_leads_to_no_levels_and_shows_no_false_zeros(visit: Visit, compared: Path) -> None:
    page = visit.open(browsing.address(compared, "/run/1"))
    expect(page.get_by_text("published run of the original system")).to_be_visible()
    expect(page.locator('a[href*="/level/"]')).to_have_count(0)
    table = page.locator("#level-table")
    for column in ("steps", "cost"):
        expect(table.locator(f"tbody .c-{column}").first).to_have_text("\N{EN DASH}")
    expect(table.locator(".c-tokens, .c-reasoning")).to_have_count(0)
    page = visit.open(browsing.address(compared, "/run/1/level/3"))
    expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
