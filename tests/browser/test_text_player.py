"""The player of a world without a grid: its rows, its picture, the plan's actions and the body's primitives."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.bodies.plugin_world import CURRICULUM
from tests.support.browsing import Visit
from tests.support.commands import main_py, only_run
from tests.support.spca.doubles import ROOT

PLUGIN = ("--plugin", ROOT / "tests" / "support" / "bodies" / "plugin_world.py")


@pytest.fixture(scope="module")
def page_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("corridor")
    (home / "levels.json").write_text(json.dumps(CURRICULUM), encoding="utf-8")
    where = ("--curriculum", "levels.json", "--runs", "runs", "--workspace", "workspace", "--quiet")
    models = ("--planner-model", "walking/a", "--coder-model", "walking/a", "--max-calls", 9)
    done = main_py(home, *PLUGIN, *where, *models)
    assert done.returncode == 0, done.stderr
    run = only_run(home / "runs")
    made = main_py(home, "report", run, *PLUGIN)
    assert made.returncode == 0, made.stderr
    return run / "report.html"


def test_an_episode_is_watched_as_text_and_pictures(visit: Visit, page_path: Path) -> None:
    page = visit.page
    page.goto(f"{page_path.as_uri()}#/run/0")
    page.get_by_role("link", name="Lab/Corridor-v0+551b9b0c#2").click()
    player = page.locator("#player")
    rows = player.locator(".rows .line")
    expect(rows).to_have_text(["place: 0\n", "length: 4\n", "@....\n"])
    picture = player.locator("img")
    first = picture.get_attribute("src")
    expect(player.locator("canvas")).to_have_count(0)

    player.get_by_role("button", name="One step on").click()
    player.get_by_role("button", name="One step on").click()
    expect(rows.nth(2)).to_have_text("..@..\n")
    expect(player.locator(".line.marked").first).to_have_text("place: 2\n")
    expect(player.locator(".facts")).to_contain_text("stride")
    expect(player.locator(".action[aria-current]")).to_have_text("walk_to_end(corridor)")
    expect(picture).to_have_attribute("alt", "The world at step 2")
    assert picture.get_attribute("src") != first
    assert picture.evaluate("image => image.naturalWidth") == 40
    expect(page).to_have_url(f"{page_path.as_uri()}#/run/0/level/2?step=2")
