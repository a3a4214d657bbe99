"""What holds of every page: narrow, dark, with large text, on paper, without a complaint."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from explorer.cli import main as explorer
from explorer.evaluation.results import Episode, append_episode
from explorer.files import save_scene
from gridworld.evaluation import cli as run_eval
from minigridenv import MiniGridEnv
from spca.evaluation.report_command import write_page
from tests.browser.conftest import LEVELS
from tests.support import browsing
from tests.support.commands import main_py
from tests.support.explorer.told import EMERALD, told
from tests.support.report.evaluated import evaluated, fail_really
from tests.support.tiers import few, long

CRASHED = len(LEVELS)
"""The number of the level with the most kinds of content."""

NAMES = (
    *("run", "level", "search", "runs", "comparison", "evaluation", "failure"),
    *("leaderboard", "benchmark", "hexagons", "episode", "explorer", "exploration"),
)
BLANK = """selector => [...document.querySelectorAll(selector)].filter(canvas => {
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  const {data} = copy.getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size < 2;
}).map(canvas => canvas.ariaLabel)"""
"""Labels of the canvases of a selector that show a single colour."""

CUT_OFF = """[...document.querySelectorAll("main *")].filter(each => {
  const box = each.closest(".scroll.wide, .code, .said-text, .plan-list, .tl-scroll, .unseen, details:not([open])");
  const isHidden = each.closest("thead") && getComputedStyle(each.closest("thead")).clipPath !== "none";
  return !box && !isHidden && each.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
}).map(each => each.outerHTML.slice(0, 80))"""
"""Elements that reach out of the window on the right, outside of regions that scroll by themselves."""


@pytest.fixture(scope="module")
def pages(failing_run: Path, failing_report: Path, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """The address of each kind of view, by name."""
    home = tmp_path_factory.mktemp("pages")
    for name in (failing_run.name, "another"):
        shutil.copytree(failing_run, home / "runs" / name)
    for words in (
        ("report", "runs"),
        ("report", "--compare", f"runs/{failing_run.name}", "runs/another", "--output", "compare.html"),
    ):
        made = main_py(home, *words)
        assert made.returncode == 0, made.stderr
    evaluation = write_page(fail_really(), evaluated(home, "20260101-000000-abcd"), MiniGridEnv)
    save_scene(home / "emerald", told())
    source = str(home / "emerald")
    latched = {"behind_the_door": 17, "emerald": 20}
    solved = Episode("emerald", 2, "human", latched, True, len(EMERALD), codes=EMERALD, ended="goal", source=source)
    failed = Episode("emerald", 2, "random", {}, False, 3, codes=EMERALD[:3], ended="max_steps", source=source)
    append_episode(home / "mine.jsonl", solved)
    append_episode(home / "mine.jsonl", failed)
    assert explorer(["report", str(home / "mine.jsonl")]) == 0
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        chosen = ("--benchmark", "tiers", "--tier", "5", "--model", "random", "--backend", "multigrid", "--quiet")
        assert run_eval.main([*chosen, "--output", "results/square.json"]) == 0
        assert run_eval.main([*chosen, "--tiling", "hex", "--output", "results/hex.json"]) == 0
        assert run_eval.main(["leaderboard", "results"]) == 0
    board, exploration = home / "leaderboard.html", home / "mine.html"
    views = {
        "run": (failing_report, "/"),
        "level": (failing_report, f"/run/0/level/{CRASHED}"),
        "search": (failing_report, "/run/0/search?q=fetch"),
        "runs": (home / "runs" / "report.html", "/"),
        "comparison": (home / "compare.html", "/compare/0"),
        "evaluation": (evaluation, "/"),
        "failure": (evaluation, "/failure/1"),
        "leaderboard": (board, "/"),
        "benchmark": (board, "/benchmark/1"),
        "hexagons": (board, "/episode/1.1/1"),
        "episode": (board, "/episode/2.1/1"),
        "explorer": (exploration, "/"),
        "exploration": (exploration, "/episode/0?step=3"),
    }
    return {name: browsing.address(*view) for name, view in views.items()}


def enlarge_text(page: Page) -> None:
    """Double the size of the reader's text."""
    page.context.new_cdp_session(page).send("Page.setFontSizes", {"fontSizes": {"standard": 32, "fixed": 26}})


def require_whole(page: Page) -> None:
    browsing.settle(page)
    assert page.evaluate(CUT_OFF) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_nothing_is_cut_off(chromium: Browser, pages: Mapping[str, str], name: str, width: int, dark: bool) -> None:
    with browsing.visit(chromium, width=width, dark=dark) as made:
        page = made.open(pages[name])
        require_whole(page)
        ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (sum(map(int, ground[4:-1].split(","))) < 200) is dark
    assert made.complaints == []


@pytest.mark.parametrize("name", few(5, NAMES))
@pytest.mark.parametrize("width", [360, long(1280)])
def test_text_of_twice_the_size_fits(chromium: Browser, pages: Mapping[str, str], name: str, width: int) -> None:
    with browsing.visit(chromium, width=width, own=True) as made:
        page = made.open(pages[name])
        enlarge_text(page)
        assert page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)") == 28
        require_whole(page)
    assert made.complaints == []


@pytest.mark.parametrize("name", few(5, NAMES))
def test_all_is_printed(chromium: Browser, pages: Mapping[str, str], name: str) -> None:
    with browsing.visit(chromium, own=True) as made:
        page = made.open(pages[name])
        browsing.settle(page)
        page.wait_for_function(f"!({BLANK})('.grids canvas').length")  # once their tiles are decoded
        groups = page.locator(".groups button").all_inner_texts()
        assert bool(groups) is (name in ("run", "evaluation", "benchmark", "explorer"))
        assert page.pdf(format="A4").startswith(b"%PDF")
        assert page.evaluate(BLANK, "canvas[role=img]") == []
        assert page.locator(".more-rows").count() == 0
        page.emulate_media(media="print")
        page.set_viewport_size({"width": 720, "height": 1000})
        require_whole(page)
        assert page.locator(".scroll thead").evaluate_all("heads => heads.every(head => head.offsetHeight > 10)")
        assert page.locator(".groups button").filter(visible=True).all_inner_texts() == groups
    assert made.complaints == []


@pytest.mark.parametrize("name", NAMES)
def test_an_address_that_leads_nowhere_says_so(chromium: Browser, pages: Mapping[str, str], name: str) -> None:
    file = pages[name].partition("#")[0]
    with browsing.visit(chromium) as made:
        for route in ("/nowhere", "/run/99", "/failure/99", "/episode/9.9/9", "/__proto__/constructor"):
            page = made.open(f"{file}#{route}")
            assert page.get_by_role("heading", level=1).inner_text() == "Nothing here", route
    assert made.complaints == []
