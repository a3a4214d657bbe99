"""The page of an evaluation in a browser: it asks for nothing and complains of nothing, in light and dark."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from spca.evaluation.looking import write_page
from tests.support import browsing
from tests.support.report.evaluated import RESULTS, evaluated


@pytest.mark.long
def test_it_is_shown_in_light_and_dark_on_a_narrow_screen(chromium: Browser, tmp_path: Path) -> None:
    path = write_page(RESULTS, evaluated(tmp_path))
    with browsing.visit(chromium, width=420, dark=True) as visit:
        page = visit.open(browsing.address(path))
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.locator("#theme").select_option("light")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")
        expect(page.get_by_text("1 of 2").first).to_be_visible()
        browsing.unfold(page)
        expect(page.get_by_text("witness, 2 primitives")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert (visit.complaints, visit.requests) == ([], [])
