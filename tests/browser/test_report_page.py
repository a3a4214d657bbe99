"""The page of a run in a real browser, from a file: from "failed" to the line, and the player against the recording."""

from __future__ import annotations

import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from minigridenv import MiniGridEnv
from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.contracts import AgentSource, Status
from spca.sense.perception import DIRECTIONS
from tests.browser.conftest import LEVELS
from tests.support import browsing
from tests.support.browsing import Visit, unfold
from tests.support.commands import main_py, read
from tests.support.report.making import Writing
from tests.support.tiers import long

CRASHED = LEVELS["unlock_door"]
SOLVED = LEVELS["goal_navigation"]

NAME_OF_FOCUSED = """(() => {
  const focused = document.activeElement;
  return focused.ariaLabel ?? (focused.matches("a, button") ? focused.textContent : "");
})()"""


def rows(page: Page) -> Locator:
    return page.locator("#level-table tbody tr")


def trajectory(run: Path, env_id: str) -> Any:
    (found,) = run.glob(f"trajectories/*_{env_id}.json")
    return read(found)


def poses(recorded: Any) -> list[tuple[int, int, int]]:
    """(row, column, direction) of the agent in the simulator itself: at the beginning, and after each primitive."""
    with closing(MiniGridEnv(recorded["env_id"], recorded["seed"])) as world:
        simulator = world._env.unwrapped
        found = []
        for code in [None, *recorded["primitives"]]:
            if code is not None:
                world.step(code)
            column, row = simulator.agent_pos
            found.append((int(row), int(column), int(simulator.agent_dir)))
        return found


def count_steps(page: Page) -> str:
    return page.locator("#player").get_attribute("data-steps") or ""


def test_the_failing_line_of_a_failed_level_is_two_clicks_away(
    visit: Visit, failing_report: Path, failing_run: Path
) -> None:
    page = visit.open(browsing.address(failing_report))
    page.get_by_role("link", name="2 failed").click()
    expect(rows(page)).to_have_count(2)
    rows(page).get_by_role("link", name=CRASHED).click()

    last = trajectory(failing_run, CRASHED)["attempts"][-1]
    line = next(int(part.split(",")[0]) for part in last["traceback"].split("line ")[1:])
    source = (failing_run / last["agent"]).read_text(encoding="utf-8").split("\n")[line - 1]
    assert source.strip().startswith("raise ValueError")
    marked = page.locator("#failure .line.marked")
    expect(marked).to_have_attribute("data-line", str(line))
    expect(marked).to_have_text(source)
    expect(marked).to_be_in_viewport()


def test_the_call_that_wrote_the_failing_line_is_one_more_click_away(
    visit: Visit, failing_report: Path, failing_run: Path
) -> None:
    page = visit.open(browsing.address(failing_report, "/run/0/level/3"))
    line = page.locator("#failure .line.marked").inner_text().strip()
    page.locator("#failure").get_by_role("link", name="prompt, answer").click()
    (opened,) = page.locator("details.boxed[open] details.boxed[open]").all()
    expect(opened.locator("summary").first).to_be_in_viewport()
    file = opened.locator("p.mono").inner_text()
    assert line.split("(")[0] in "\n".join(read(failing_run / file)["answer"]["text"])
    expect(opened.get_by_role("group", name="Answer", exact=True)).to_contain_text(line.split("(")[0])


def test_kinds_of_failures_stand_above_the_levels_and_filter_them(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report))
    kinds = page.get_by_role("group", name="Kinds of failures").get_by_role("button")
    expect(kinds).to_have_count(2)
    kinds.filter(has_text="runtime_error").click()
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text("raised ValueError")
    page.reload()
    expect(rows(page)).to_have_count(1)


def test_sorting_stands_in_the_address(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report))
    head = page.locator("#level-table").get_by_role("button", name="Steps")
    head.click()
    head.click()
    expect(page).to_have_url(re.compile("sort=steps&down=1"))
    first = rows(page).first.inner_text()
    page.reload()
    expect(rows(page).first).to_have_text(first, use_inner_text=True)


def test_a_search_finds_methods_in_prompts_and_answers_and_leads_there(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report))
    page.get_by_role("link", name="Search prompts").click()
    page.get_by_role("searchbox").fill("go_to_door")
    expect(page.get_by_role("link", name=re.compile("coder: answer")).first).to_be_visible()
    page.get_by_role("link", name=re.compile("coder: answer")).first.click()
    expect(page.get_by_role("group", name="Answer", exact=True).first).to_contain_text("go_to_door")
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("go_to_door")


def test_filters_leave_the_levels_asked_for_and_can_be_linked(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report))
    expect(rows(page)).to_have_count(len(LEVELS))
    page.get_by_placeholder("number, name").fill("doorkey")
    expect(rows(page)).to_have_count(1)
    expect(rows(page)).to_contain_text(CRASHED)
    again = page.url
    page.goto("about:blank")
    page.goto(again)
    expect(rows(page)).to_have_count(1)
    page.get_by_placeholder("number, name").fill("no such level")
    expect(rows(page)).to_have_count(0)


@pytest.mark.long
def test_the_player_shows_what_the_simulator_did_step_by_step(
    visit: Visit, failing_report: Path, failing_run: Path
) -> None:
    recorded = trajectory(failing_run, SOLVED)
    steps = recorded["attempts"][-1]["steps"]
    page = visit.open(browsing.address(failing_report, "/run/0/level/1"))
    player = page.locator("#player")
    player.focus()
    page.keyboard.press("Home")
    for number, (row, column, direction) in enumerate(poses(recorded)):
        expect(player).to_have_attribute("data-step", str(number))
        facts = player.locator(".facts")
        expect(facts).to_contain_text(f"Positionrow {row}, column {column}Facing{DIRECTIONS[direction]}")
        assert count_steps(page) == str(len(steps))
        if number:
            code, position, line = steps[number - 1]
            expect(facts).to_contain_text(f"Primitive{PRIMITIVE_METHODS[code]}Position")
            action = recorded["attempts"][-1]["plan"][position]["action"]
            expect(player.locator(".plan-list [aria-current]")).to_contain_text(action)
            expect(player.locator(".line.marked")).to_have_attribute("data-line", str(line))
        page.keyboard.press("ArrowRight")
    expect(player).to_have_attribute("data-step", str(len(steps)))


def test_the_player_is_worked_by_buttons_slider_and_address_as_well(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report, "/run/0/level/1/attempt/1.1?step=2"))
    player = page.locator("#player")
    expect(player).to_have_attribute("data-step", "2")
    page.get_by_role("button", name="One step on").click()
    expect(player).to_have_attribute("data-step", "3")
    page.get_by_role("slider", name="Step").fill("1")
    expect(player).to_have_attribute("data-step", "1")
    expect(page).to_have_url(re.compile(r"step=1$"))
    page.get_by_role("button", name="Play").click()
    expect(player).to_have_attribute("data-step", count_steps(page))


def test_a_linked_moment_is_in_view_and_keys_work_all_over_its_page(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report, "/run/0/level/3/attempt/1.1?step=0"))
    player = page.locator("#player")
    expect(player.locator("canvas").first).to_be_in_viewport()
    steps = count_steps(page)
    page.get_by_role("heading", level=1).focus()
    page.keyboard.press("End")
    expect(player).to_have_attribute("data-step", steps)
    page.keyboard.press("Home")
    expect(player).to_have_attribute("data-step", "0")
    page.locator("summary").first.focus()
    page.keyboard.press("End")
    expect(player).to_have_attribute("data-step", "0")


def test_every_attempt_can_be_watched(visit: Visit, failing_report: Path, failing_run: Path) -> None:
    attempts = trajectory(failing_run, CRASHED)["attempts"]
    page = visit.open(browsing.address(failing_report, "/run/0/level/3"))
    chosen = page.get_by_role("group", name="Attempts").get_by_role("button")
    expect(chosen).to_have_count(len(attempts))
    chosen.nth(3).click()
    name = f"{attempts[3]['round']}.{attempts[3]['attempt']}"
    expect(page.get_by_role("group", name=f"Player of attempt {name}")).to_be_visible()
    expect(page).to_have_url(re.compile(f"attempt/{re.escape(name)}"))


def test_prompts_answers_and_patches_are_there_to_be_unfolded(
    visit: Visit, failing_report: Path, failing_run: Path
) -> None:
    calls = [read(path) for path in sorted((failing_run / "llm").glob("*.json"))]
    answer = next(call["answer"]["text"] for call in reversed(calls) if call["phase"] == "coder")
    page = visit.open(browsing.address(failing_report, "/run/0/level/3"))
    unfold(page)
    shown = page.locator("main").inner_text()
    for text in (calls[-1]["messages"][0]["text"][0], "(define (domain", answer[0]):
        assert text in shown


def test_what_changed_in_the_code_is_told_line_by_line(visit: Visit, failing_report: Path, failing_run: Path) -> None:
    agents = [
        trajectory(failing_run, SOLVED)["attempts"][-1]["agent"],
        trajectory(failing_run, CRASHED)["attempts"][0]["agent"],
    ]
    before, after = (Counter((failing_run / name).read_text(encoding="utf-8").split("\n")) for name in agents)
    page = visit.open(browsing.address(failing_report, "/run/0/level/3"))
    changed = page.locator("details.boxed").filter(has_text=re.compile(r"^1\.1"))
    changed.locator("summary").first.click()
    view = changed.get_by_role("group", name="Code: changes")
    expect(view).to_be_visible()
    removed, added = (view.locator(tag).all_text_contents() for tag in ("del", "ins"))
    assert {line[0] for line in removed} <= {"-"}
    assert {line[0] for line in added} <= {"+"}
    now = before - Counter(line[1:-1] for line in removed) + Counter(line[1:-1] for line in added)
    assert now == after
    expect(changed).to_contain_text(re.compile(rf"code \+{len(added)} .{len(removed)}"))


def test_texts_that_have_nothing_in_common_do_not_take_for_ever(visit: Visit, tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.begin()
    run.plan()
    for letter in "ab":
        run.code()
        lines = "".join(f"        {letter}{number} = {number}\n" for number in range(6000))
        run.act(Status.STUCK, agent=AgentSource(f"class Agent:\n    def go(self):\n{lines}"))
    run.finish()
    run.kill()
    made = main_py(tmp_path, "report", run.path)
    assert made.returncode == 0, made.stderr
    page = visit.open(browsing.address(run.path / "report.html", "/run/0/level/1"))
    expect(page.get_by_text(re.compile(r"code \+6003 .6003"))).to_be_visible()


@pytest.mark.parametrize("width", [360, long(1440)])
@pytest.mark.parametrize("route", ["/", "/run/0/level/1", "/run/0/level/3", "/compare/0"])
def test_the_page_never_scrolls_sideways(chromium: Browser, failing_report: Path, width: int, route: str) -> None:
    with browsing.visit(chromium, width=width) as made:
        page = made.open(browsing.address(failing_report, route))
        browsing.settle(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert made.complaints == []


@pytest.mark.long  # tests/browser/test_hostile_page.py sees it on the same pages
def test_nothing_leaves_the_page(visit: Visit, failing_report: Path) -> None:
    for route in ("/", "/run/0/level/1", "/run/0/level/3", "/compare/0"):
        visit.open(browsing.address(failing_report, route))
    assert [asked for asked in visit.requests if not asked.startswith(("file:", "data:", "blob:"))] == []


def test_the_whole_way_can_be_gone_with_the_keyboard(visit: Visit, failing_report: Path) -> None:
    page = visit.open(browsing.address(failing_report))

    def tab_to(name: str) -> None:
        for _ in range(200):
            page.keyboard.press("Tab")
            text = str(page.evaluate(NAME_OF_FOCUSED))
            if name in text:
                return
        raise AssertionError(f"{name} is not reached")

    tab_to("failed")
    page.keyboard.press("Enter")
    expect(rows(page)).to_have_count(2)
    tab_to(CRASHED)
    page.keyboard.press("Enter")
    expect(page.locator("#failure .line.marked")).to_be_visible()
    tab_to("Player of attempt")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#player")).to_have_attribute("data-step", "1")
