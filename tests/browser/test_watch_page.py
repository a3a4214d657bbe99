"""The live page in a real browser: what a run writes appears without the page being loaded again."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browsing import Visit
from tests.support.commands import start
from tests.support.processes import Process
from tests.support.report.making import Writing
from tests.support.waiting import PATIENCE

Watching = Callable[[Path], str]


@pytest.fixture
def watch(tmp_path: Path) -> Iterator[Watching]:
    """``watch(run)`` runs the command on a run folder; gives the address that it prints."""
    with ExitStack() as stack:

        def begin(run: Path) -> str:
            process = stack.enter_context(start(tmp_path, "watch", run))
            stack.callback(end, process)
            assert process.stdout is not None
            return process.stdout.readline().strip()

        yield begin


def end(process: Process) -> None:
    process.send_signal(signal.SIGINT)
    assert process.wait(PATIENCE) == 0


@pytest.mark.long  # the level that grows comes the same way
def test_a_new_level_appears_without_a_reload(visit: Visit, watch: Watching, tmp_path: Path) -> None:
    run = Writing(tmp_path / "runs")
    run.solve()
    address = watch(run.path)
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[\w-]{43}/", address)
    page = visit.open(address)
    rows = page.locator("#level-table tbody tr")
    expect(rows.nth(0)).to_contain_text("solved")
    page.get_by_role("group", name="Show levels").get_by_role("button", name="failed").click()
    expect(rows).to_have_count(0)
    page.evaluate("window.stillThere = true")

    run.fail()
    expect(rows).to_have_count(1)
    expect(rows.first).to_contain_text("got stuck")
    assert page.evaluate("window.stillThere") is True
    assert all(asked.startswith(address) for asked in visit.requests)


@pytest.mark.long
def test_a_level_that_is_open_grows(visit: Visit, watch: Watching, tmp_path: Path) -> None:
    run = Writing(tmp_path / "runs")
    run.begin()
    run.plan(error="unsolvable: no plan exists")
    page = visit.open(watch(run.path) + "#/run/0/level/1")
    page.evaluate("window.stillThere = true")
    expect(page.get_by_text("unsolvable: no plan exists").first).to_be_visible()
    run.plan(repair=True)
    run.code()
    run.act()
    run.finish()
    expect(page.locator("#player")).to_be_visible()
    assert page.evaluate("window.stillThere") is True


def test_a_page_whose_server_is_gone_says_so(visit: Visit, tmp_path: Path) -> None:
    run = Writing(tmp_path / "runs")
    run.solve()
    with start(tmp_path, "watch", run.path) as process:
        assert process.stdout is not None
        page = visit.open(process.stdout.readline().strip())
        expect(page.locator("#level-table")).to_be_visible()
        end(process)
    expect(page.get_by_text("lost")).to_be_visible()
    visit.complaints.clear()  # the browser's own words for a refused connection
