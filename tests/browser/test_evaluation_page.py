"""The page of an evaluation in a browser: from a figure to the failures, to one of them, and through its player."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from minigridenv import MiniGridEnv
from spca.evaluation.report_command import write_page
from tests.support import browsing
from tests.support.browsing import Visit
from tests.support.report.evaluated import RESULTS, evaluated, fail_really

STUCK = "MiniGrid-Empty-5x5-v0:2"


@pytest.fixture(scope="module")
def evaluation_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an evaluation whose failures really happened."""
    return write_page(fail_really(), evaluated(tmp_path_factory.mktemp("real"), "20260101-000000-abcd"), MiniGridEnv)


@pytest.fixture(scope="module")
def hostile_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of an evaluation whose texts try to be markup."""
    return write_page(RESULTS, evaluated(tmp_path_factory.mktemp("hostile")), MiniGridEnv)


def expect_step(page: Page, step: int, steps: int) -> None:
    player = page.locator("#player")
    expect(player).to_have_attribute("data-step", str(step))
    expect(player).to_have_attribute("data-steps", str(steps))


def test_from_the_figure_to_the_failures_of_a_kind_to_one_of_them(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page))
    expect(page.locator(".figures")).to_contain_text("pass@1 in the curriculum")
    failures = page.get_by_role("region", name="Failures").locator("tbody tr")
    expect(failures).to_have_count(2)
    page.get_by_role("link", name="1 unsolvable: nobody's fault").click()
    expect(page.locator("#failures")).to_be_focused()
    expect(failures).to_have_count(1)
    page.get_by_role("link", name="2 failed").click()
    expect(failures).to_have_count(2)
    page.get_by_role("button", name="stuck: the same cycle of 2 states (solvable)").click()
    expect(failures).to_have_count(1)
    failures.get_by_role("link", name=STUCK).click()
    expect(page.get_by_role("heading", level=1)).to_have_text(STUCK)
    assert page.url.endswith("#/failure/1")
    expect(page.get_by_role("navigation", name="Where you are")).to_contain_text("Evaluation")
    page.get_by_role("link", name="All of this kind").click()
    expect(failures).to_have_count(1)


def test_the_player_goes_through_attempts_and_witness_and_stays_where_it_is(
    visit: Visit, evaluation_page: Path
) -> None:
    page = visit.open(browsing.address(evaluation_page, "/failure/1"))
    expect_step(page, 0, 5)
    expect(page.get_by_text("re-simulation equals the recording")).to_be_visible()
    expect(page.get_by_text("get to the green goal square")).to_be_visible()
    page.get_by_role("button", name="One step on").click()
    page.keyboard.press("ArrowRight")
    expect_step(page, 2, 5)
    expect(page.locator("#player")).to_contain_text("move_forward")
    page.get_by_role("button", name="fly(a1)").click()
    expect_step(page, 3, 5)
    expect(page.locator(".facts").filter(has_text="Primitive")).to_contain_text("turn_left")

    page.get_by_role("group", name="What is played").get_by_role("button", name="witness: a solution").click()
    expect_step(page, 0, 5)
    page.locator("#player").press("End")
    expect_step(page, 5, 5)
    expect(page.get_by_text("the re-simulation solves the episode")).to_be_visible()
    page.wait_for_url("**/*show=witness&step=5")
    page.reload()
    expect_step(page, 5, 5)
    expect(page.locator(".plan-list [aria-current]")).to_have_text("move_forward")


def test_an_attempt_without_primitives_says_so(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page, "/failure/2"))
    expect(page.locator("#player")).to_contain_text("No primitive was executed.")


def test_a_call_of_a_plan_unfolds_its_method(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page, "/failure/1"))
    expect(page.get_by_text("the agent has no such method").first).to_be_visible()
    page.locator("summary", has_text="go(a1)").first.click()
    expect(page.locator(".line.marked")).to_have_text("    def go(self, place):")


def test_the_frozen_agent_can_be_read(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page))
    page.locator("summary", has_text="The agent").click()
    expect(page.get_by_role("group", name="The agent")).to_contain_text("class Agent:")


def test_a_certificate_comes_with_its_map(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page, "/failure/2"))
    proof = page.locator("section", has=page.locator("#proof"))
    expect(proof).to_contain_text("the goal cannot be reached")
    expect(proof).to_contain_text("#sX.#")
    expect(proof).to_contain_text("start")


@pytest.mark.parametrize("route", ["/failure/3", "/failure/1/2", "/agent", "/failure/__proto__", "/nothing"])
def test_an_address_that_leads_nowhere_says_so(visit: Visit, evaluation_page: Path, route: str) -> None:
    page = visit.open(browsing.address(evaluation_page, route))
    expect(page.get_by_role("heading", name="Nothing here")).to_be_visible()


def test_commands_can_be_copied(chromium: Browser, evaluation_page: Path) -> None:
    with browsing.visit(chromium, own=True) as visit:
        visit.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = visit.open(browsing.address(evaluation_page, "/failure/1"))
        page.locator(".command").get_by_role("button", name="Copy").click()
        expect(page.get_by_role("button", name="Copied")).to_be_visible()
        copied = page.evaluate("navigator.clipboard.readText()")
        assert copied == f"python main.py replay {evaluation_page.parent.name} {STUCK} --attempt 1.1"
        assert visit.complaints == []


@pytest.mark.parametrize("route", ["/", "/failure/1"])
def test_hostile_texts_stay_text_on_a_narrow_screen_too(chromium: Browser, hostile_page: Path, route: str) -> None:
    with browsing.visit(chromium, width=360, height=740, dark=True) as visit:
        page = visit.open(browsing.address(hostile_page, route))
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        browsing.unfold(page)
        shown = page.locator("body").inner_text()
        assert "<script>alert(1)</script>⟨U+202E⟩␛[31m" in shown
        assert not {"\u202e", "\x1b"} & set(shown)
        assert page.locator("main b, main script, main style").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert visit.complaints == []
        assert [asked for asked in visit.requests if not asked.startswith("data:")] == []


@pytest.mark.long
def test_print_shows_the_ids_too(visit: Visit, evaluation_page: Path) -> None:
    page = visit.open(browsing.address(evaluation_page))
    page.emulate_media(media="print")
    table = page.get_by_role("region", name="Table of environment id")
    expect(table.get_by_text("MiniGrid-Empty-5x5-v0", exact=True)).to_be_visible()
