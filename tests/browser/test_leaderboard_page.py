"""The leaderboard in a browser: rankings, the way to an episode and back, its grids, and files that mean harm."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from gridworld.evaluation import cli
from tests.support import browsing
from tests.support.browsing import Visit

HARM = "<img src=x onerror=window.ran=1></script><script>window.ran=1</script>\x1b[2J\u202egnp"


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of two baselines on the fifth tier, on squares and hexagons."""
    home = tmp_path_factory.mktemp("board")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        for model in ("bfs", "random"):
            chosen = ("--benchmark", "tiers", "--tier", "5", "--model", model, "--backend", "multigrid", "--quiet")
            assert cli.main([*chosen, "--output", f"{model}.json"]) == 0
            assert cli.main([*chosen, "--tiling", "hex", "--output", f"{model}_hex.json"]) == 0
        assert cli.main(["leaderboard", ".", "--output", "board.html"]) == 0
    return home / "board.html"


@pytest.fixture(scope="module")
def harmful_board(board: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of results whose every text means harm, one of them an error of the model."""
    home = tmp_path_factory.mktemp("harmful")
    data = poison(json.loads((board.parent / "random.json").read_text()))
    data["task_results"][0]["episode"]["info"]["model_error"] = HARM
    (home / f"{HARM.replace('/', '')}.json").write_text(json.dumps(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        assert cli.main(["leaderboard", ".", "--output", "board.html"]) == 0
    return home / "board.html"


def poison(value: Any, key: str = "") -> Any:
    if isinstance(value, dict):
        return {name: poison(item, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poison(item, key) for item in value]
    return f"{value}{HARM}" if isinstance(value, str) and key != "observability_mode" else value


def ranking(page: Page) -> Locator:
    return page.get_by_role("region", name="Table of ranking of tiers_5", exact=True)


def count_colours(page: Page, which: int) -> int:
    """Count the colours that a grid shows; one that is not drawn shows a single one."""
    return int(
        page.locator("canvas")
        .nth(which)
        .evaluate(
            """canvas => {
                 const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
                 return new Set(new Uint32Array(data.buffer)).size;
               }"""
        )
    )


def test_from_the_overview_to_a_step_of_an_episode_and_back(board: Path, visit: Visit) -> None:
    page = visit.open(browsing.address(board))
    expect(page.get_by_role("region", name="Table of models", exact=True)).to_contain_text("100.0 % 4 of 4")
    expect(page.get_by_text("knows the task; a shortest way by exact search")).to_be_visible()
    page.get_by_role("link", name="Tasks and episodes of tiers_5", exact=True).click()
    cell = page.get_by_role("link", name="random, tier5_memory_003: ran out of steps, 150 steps, shortest way 30")
    assert cell.bounding_box()["height"] >= 24  # type: ignore[index]
    cell.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tier5_memory_003")
    player = page.locator("#player")
    page.locator(".action", has_text="move_forward").first.click()
    step = int(player.get_attribute("data-step") or "")
    assert step > 0
    expect(page.locator(".player-side")).to_contain_text("drawn at random")
    page.wait_for_url(f"**step={step}")
    assert visit.requests == []
    page.reload()
    expect(player).to_have_attribute("data-step", str(step))
    page.go_back()
    expect(cell).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("tiers_5")


def test_rows_are_sorted_searched_and_grouped_by_the_address(board: Path, visit: Visit) -> None:
    page = visit.open(browsing.address(board, "/benchmark/1"))
    models = ranking(page).get_by_role("rowheader")
    expect(models).to_have_text(["bfsbfs.json", "randomrandom.json"])
    ranking(page).get_by_role("button", name="Mean steps").dblclick()
    expect(models).to_have_text(["randomrandom.json", "bfsbfs.json"])
    episodes = page.get_by_role("region", name="Table of episodes")
    page.get_by_role("button", name="4 \u00d7 ran out of steps").click()
    expect(episodes.get_by_role("rowheader")).to_have_count(4)
    page.get_by_placeholder("task, result, outcome").fill("teleporter")
    page.reload()
    expect(episodes.get_by_role("rowheader")).to_have_text(["tier5_teleporter_004"])
    expect(models.first).to_have_text("randomrandom.json")
    episodes.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("tier5_teleporter_004")


@pytest.mark.parametrize("route", ["/episode/1.1", "/episode/1.3/1", "/episode/2.1/5", "/benchmark/3", "/what"])
def test_an_unknown_address(board: Path, visit: Visit, route: str) -> None:
    page = visit.open(browsing.address(board, route))
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here")


@pytest.mark.parametrize(
    ("route", "facing", "across", "point"),
    [("/episode/1.1/1", "down", 10, (1.5, 1.9)), ("/episode/2.1/1", "down-right", 10.5, (2, 2.05))],
    ids=["square", "hex"],
)
def test_grids_of_squares_and_hexagons(
    board: Path, visit: Visit, route: str, facing: str, across: float, point: tuple[float, float]
) -> None:
    """``across``: how many cells wide the grid is; ``point``: in the lower corner of a cell, in widths of cells."""
    page = visit.open(browsing.address(board, route))
    page.locator(".action", has_text="turn_right").first.click()
    expect(page.locator(".player .facts")).to_contain_text(f"Facing{facing}")
    seen = re.compile(
        f"^The agent's map, 8 by 10 cells, .* facing {facing}, carrying nothing. In view: off yellow switch"
    )
    expect(page.get_by_role("img", name=seen)).to_be_visible()
    page.wait_for_function("document.querySelectorAll('.legend canvas').length > 2")
    assert count_colours(page, 0) > count_colours(page, 1) > 2
    truth = page.locator("canvas").first
    width = truth.evaluate("canvas => canvas.clientWidth") / across
    truth.hover(position={"x": point[0] * width, "y": point[1] * width})
    expect(page.locator(".hovered")).to_contain_text("row 1, column 1: floor")


@pytest.mark.parametrize(("width", "dark"), [(360, True), (1280, False)])
def test_nothing_is_cut_off(board: Path, chromium: Browser, width: int, dark: bool) -> None:
    with browsing.visit(chromium, width=width, dark=dark) as visit:
        for route in ("", "/benchmark/2", "/episode/1.2/1"):
            page = visit.open(browsing.address(board, route))
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            regions = page.locator(".scroll:not(.wide)").evaluate_all(
                "all => all.map(e => e.scrollWidth - e.clientWidth)"
            )
            assert all(hidden <= 0 for hidden in regions)
        assert (visit.complaints, visit.requests) == ([], [])


def test_texts_that_mean_harm_stay_texts(harmful_board: Path, visit: Visit) -> None:
    page = visit.open(browsing.address(harmful_board))
    expect(page.get_by_role("heading", level=1)).to_contain_text("<img src=x onerror=window.ran=1>")
    expect(page.get_by_role("button", name="1 \u00d7 model error: <img")).to_be_visible()
    page.locator("a.cell").first.click()
    expect(page.get_by_role("alert")).to_contain_text("␛[2J⟨U+202E⟩gnp")
    expect(page.get_by_text("No grid to show")).to_be_visible()
    page.locator("#player").press("End")
    expect(page.locator("#player")).to_have_attribute("data-step", "75")
    assert page.evaluate("window.ran") is None
    assert visit.requests == []
