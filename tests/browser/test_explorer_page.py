"""Playing a scene and its report, in a real browser."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from explorer.cli import main
from explorer.evaluation.results import Episode, append_episode, read_episodes
from explorer.files import save_scene
from explorer.play.server import served
from explorer.play.session import Session
from tests.support import browsing
from tests.support.browsing import Visit
from tests.support.explorer.scenes import Puzzle, hall, having
from tests.support.explorer.told import EMERALD, TEXT, told
from tests.support.processes import Process
from tests.support.spca.doubles import ROOT
from tests.support.waiting import PATIENCE, becomes

FOGGY = 0.95
"""Share of a map that nothing is known of in the beginning, at most."""
HOSTILE = "</script><img src=x onerror=alert(1)><b>bold</b>\u202e"
SPELLED_OUT = HOSTILE.replace("\u202e", "⟨U+202E⟩")
PICTURES = "[...document.querySelectorAll('.stage canvas')].map(canvas => canvas.toDataURL())"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A scene, results of it, and their report."""
    made = tmp_path_factory.mktemp("explorer")
    save_scene(made / "emerald", told())
    for model in ("human", "random"):
        append_episode(made / "mine.jsonl", episode(made, model))
    assert main(["report", str(made / "mine.jsonl")]) == 0
    return made


def episode(folder: Path, model: str) -> Episode:
    latched = {"behind_the_door": 17, "emerald": 20}
    return Episode(
        "emerald", 2, model, latched, True, len(EMERALD), codes=EMERALD, ended="goal", source=str(folder / "emerald")
    )


@pytest.fixture
def playing(folder: Path, tmp_path: Path) -> Iterator[tuple[Process, str]]:
    """The command, and the address that it prints."""
    line = [sys.executable, "-m", "explorer", "play", str(folder / "emerald"), "--no-browser", "--output", "mine.jsonl"]
    with Process(line, cwd=tmp_path, stdout=-1, stderr=-1, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Task: {TEXT}\n"
        yield process, process.stdout.readline().split()[0]


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Visit]:
    """A small window, since there is no graphics card; it must not complain of anything."""
    with browsing.visit(chromium, width=480, height=400) as made:
        yield made
    assert made.complaints == []


def pixels(canvas: Locator) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(canvas.screenshot())).convert("RGB"))


def is_drawn(canvas: Locator, most: float = 0.5) -> bool:
    """Many colours, none of which covers more than ``most`` of it."""
    colours, counts = np.unique(pixels(canvas).reshape(-1, 3), axis=0, return_counts=True)
    return len(colours) > 50 and counts.max() < most * counts.sum()


def press(page: Page, *keys: str) -> None:
    """Press keys, each after the step of the one before."""
    for key in keys:
        step = int(page.locator(".play").get_attribute("data-step") or "")
        page.keyboard.press(key)
        expect(page.locator(".play")).to_have_attribute("data-step", str(step + 1))


@pytest.mark.long
def test_keys_and_a_click_win_the_scene(visit: Visit, playing: tuple[Process, str], tmp_path: Path) -> None:
    process, address = playing
    page = visit.open(address)
    expect(page.get_by_role("heading", level=1)).to_have_text(TEXT)
    assert is_drawn(page.locator("canvas.first"))
    assert is_drawn(page.locator("canvas.above"), FOGGY)
    before = pixels(page.locator("canvas.first"))
    press(page, *["KeyW"] * 4, "KeyQ", *["ArrowUp"] * 3)
    assert (pixels(page.locator("canvas.first")) != before).any()
    page.locator("[data-thing=lever_1]").click()
    expect(page.locator(".play")).to_have_attribute("data-step", "10")
    page.mouse.move(1, 1)
    after = pixels(page.locator("canvas.first"))
    page.reload()  # looks that came one after another are drawn like all of them at once
    expect(page.locator(".play")).to_have_attribute("data-step", "10")
    assert becomes(lambda: bool((pixels(page.locator("canvas.first")) == after).all()))
    expect(page.locator("body")).not_to_contain_text("milestone")
    press(page, *["KeyS"] * 3, "KeyE", *["KeyW"] * 6)
    expect(page.locator("#ending")).to_be_focused()
    expect(page.locator("#ending")).to_have_text("You reached the goal.")
    expect(page.locator(".play")).to_contain_text("2 of 2 milestones reached in 20 steps")
    expect(page.locator(".things [data-item=emerald]")).to_be_visible()
    with page.expect_popup() as opened:
        page.get_by_role("link", name="See how it went").click()
    opened.value.get_by_role("link", name=TEXT).click()
    expect(opened.value.locator(".player")).to_be_visible()
    process.send_signal(signal.SIGINT)
    said, trouble = process.communicate(timeout=PATIENCE)
    assert (process.returncode, trouble) == (0, "")
    assert "solved: 2 of 2 milestones in 20 steps" in said
    (kept,) = read_episodes(tmp_path / "mine.jsonl")
    assert (kept.codes, kept.model) == (EMERALD, "human")
    visit.complaints[:] = [said for said in visit.complaints if not said.startswith("popup: ")]
    assert all(asked.startswith((address, "data:image/png;base64,")) for asked in visit.requests)


@pytest.mark.long  # a click that hits a mob and one on the name of the lever do the same
def test_a_click_on_the_picture_does_what_fits(visit: Visit, playing: tuple[Process, str]) -> None:
    page = visit.open(playing[1])
    press(page, *["KeyW"] * 4, "KeyQ", *["KeyW"] * 3)
    box = page.locator("canvas.first").bounding_box()
    assert box is not None
    for down in np.linspace(0.55, 0.95, 9):
        page.mouse.move(box["x"] + box["width"] / 2, box["y"] + down * box["height"])
        if "lever" in (page.locator(".pointed").text_content() or ""):
            break
    page.mouse.down()
    page.mouse.up()
    expect(page.locator("[data-thing=lever_1]")).to_contain_text("on")
    expect(page.locator(".lines")).to_contain_text("use")


@pytest.mark.long
def test_a_tall_mob_is_hit_by_its_head(visit: Visit) -> None:
    pen = hall().mob("sheep", (4, 1, 6)).scene("pen")
    session = Session(told(Puzzle(pen, (having("take_wool", "wool", "white_wool"),))))
    with served(session, "x", str) as server:
        page = visit.open(server.address)
        box = page.locator("canvas.first").bounding_box()
        assert box is not None
        middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.mouse.move(*middle)
        expect(page.locator(".pointed")).to_contain_text("sheep")
        page.mouse.click(*middle)
        expect(page.locator(".play")).to_contain_text("1 of 1 milestone reached in 2 steps")


@pytest.mark.long
def test_a_server_that_is_gone_is_said(visit: Visit, playing: tuple[Process, str]) -> None:
    process, address = playing
    page = visit.open(address)
    expect(page.locator(".play")).to_have_attribute("data-step", "0")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    page.keyboard.press("KeyW")
    expect(page.get_by_role("alert")).to_contain_text("could not be reached")
    visit.complaints.clear()  # the browser says so, too


def test_the_report_plays_an_episode_and_milestones_light_up(visit: Visit, folder: Path) -> None:
    page = visit.open(browsing.address(folder / "mine.html", "/episode/0"))
    player, hops = page.locator(".player"), page.locator(".hop")
    expect(player).to_have_attribute("data-step", "0")
    assert is_drawn(page.locator("canvas.first"))
    fog = pixels(page.locator("canvas.above"))
    expect(page.locator(".hop.lit")).to_have_count(0)
    page.keyboard.press("End")
    expect(page.locator(".hop.lit")).to_have_count(2)
    expect(player).to_contain_text(re.compile("Carries1 . emerald"))
    page.keyboard.press("Home")
    page.keyboard.press("t")
    expect(player).to_have_attribute("data-drawn", "all")
    assert (pixels(page.locator("canvas.above")) != fog).any()
    hops.nth(0).get_by_role("link", name="step 17").click()
    expect(page.locator(".hop.lit")).to_have_count(1)
    expect(player).to_contain_text("Step17Actionforward")
    expect(player).to_have_attribute("data-drawn", "all")
    page.get_by_label("Speed").select_option("5")
    page.get_by_role("button", name="Play").click()
    expect(player).to_have_attribute("data-step", "20")
    assert all(asked.startswith("data:image/png;base64,") for asked in visit.requests)


def test_an_address_names_episode_step_and_what_is_drawn(visit: Visit, folder: Path) -> None:
    page = visit.open(browsing.address(folder / "mine.html", "/episode/1?step=5"))
    player = page.locator(".player")
    expect(player).to_have_attribute("data-step", "5")
    expect(page).to_have_title(re.compile(f"^emerald: {TEXT}"))
    expect(page.locator("main .facts").first).to_contain_text("random")
    page.get_by_role("button", name="all there was").click()
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**#/episode/1?step=6&drawn=all")
    page.reload()
    expect(player).to_have_attribute("data-step", "6")
    expect(player).to_have_attribute("data-drawn", "all")
    page.get_by_role("link", name="Episode before").click()
    expect(page.locator("main .facts").first).to_contain_text("human")
    expect(player).to_have_attribute("data-step", "0")
    assert page.url.endswith("#/episode/0")
    page.get_by_role("link", name="this scene by random").click()
    expect(page.locator("main .facts").first).to_contain_text("random")


@pytest.mark.parametrize("route", ["/episode/2", "/episode/x", "/episode/0/more", "/nonsense"])
def test_an_address_that_leads_nowhere_says_so(visit: Visit, folder: Path, route: str) -> None:
    page = visit.open(browsing.address(folder / "mine.html", route))
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing here")
    page.get_by_role("link", name="To the overview").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Exploration results: mine")


def test_going_back_finds_the_table_as_it_was(visit: Visit, folder: Path) -> None:
    page = visit.open(browsing.address(folder / "mine.html"))
    page.get_by_role("searchbox").fill("random")
    expect(page.get_by_role("status")).to_have_text("1 of 2 episodes")
    page.get_by_role("link", name=TEXT).click()
    expect(page.locator(".player")).to_be_visible()
    page.go_back()
    expect(page.get_by_role("status")).to_have_text("1 of 2 episodes")
    expect(page.get_by_role("link", name=TEXT)).to_be_focused()


def test_going_back_finds_the_last_of_many_rows(visit: Visit, tmp_path: Path) -> None:
    for number in range(200):
        append_episode(tmp_path / "many.jsonl", Episode(f"lost {number}", 1, "human", steps=number))
    assert main(["report", str(tmp_path / "many.jsonl")]) == 0
    page = visit.open(browsing.address(tmp_path / "many.html", "/?sort=steps"))
    last = page.get_by_role("link", name="lost 199")
    while not last.count():
        page.mouse.wheel(0, 5000)
        page.wait_for_timeout(50)
    last.click()
    expect(page.get_by_role("heading", level=1)).to_have_text("lost 199")
    page.go_back()
    expect(last).to_be_focused()
    expect(last).to_be_in_viewport()


def test_failures_are_grouped_and_episodes_filtered(visit: Visit, tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told())
    won = episode(tmp_path, "human")
    lost = replace(won, latched={}, solved=False, codes=EMERALD[:3], steps=3)
    for each in (
        won,
        replace(lost, ended="max_steps"),
        replace(lost, ended="max_steps"),
        replace(lost, ended="", error="boom\nat line 1"),
        replace(lost, scene="gone", ended="done", source=""),
    ):
        append_episode(tmp_path / "mine.jsonl", each)
    assert main(["report", str(tmp_path / "mine.jsonl")]) == 0
    page = visit.open(browsing.address(tmp_path / "mine.html"))
    rows = page.get_by_role("region", name="Episodes").locator("tbody tr")
    expect(page.get_by_role("group", name="Kinds of failures").get_by_role("button")).to_have_text(
        [re.compile("^2 . ran out of steps"), re.compile("^1 . agent failed: boom"), re.compile("^1 . gave up")]
    )
    page.get_by_role("button", name="ran out of steps").click()
    expect(rows).to_have_count(2)
    page.reload()
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="ran out of steps").click()
    page.get_by_role("button", name="solved 1").click()
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="failed 4").click()
    page.get_by_role("link", name="gone").click()
    expect(page.get_by_role("note")).to_contain_text("gone: cannot read")
    expect(page.locator(".player")).to_have_count(0)


def test_a_printed_page_has_both_pictures(visit: Visit, folder: Path) -> None:
    page = visit.open(browsing.address(folder / "mine.html", "/episode/0?step=9"))
    expect(page.locator(".player")).to_have_attribute("data-step", "9")
    page.evaluate("document.querySelector('.stage').before(Object.assign(document.createElement('div'), {id: 'tall'}))")
    page.locator("#tall").evaluate("element => element.style.height = '3000px'")
    page.evaluate("scrollTo(0, 0)")
    before = page.evaluate(PICTURES)
    page.keyboard.press("ArrowRight")
    expect(page.locator(".player")).to_have_attribute("data-step", "10")
    printed = page.evaluate(PICTURES)
    assert all(one != other for one, other in zip(before, printed, strict=True))


@pytest.mark.long
def test_many_episodes_can_be_looked_at_one_after_another(visit: Visit, folder: Path) -> None:
    """A browser keeps 16 WebGL contexts at most."""
    page = visit.open(browsing.address(folder / "mine.html"))
    for turn in range(18):
        page.evaluate(f"location.hash = '#/episode/{turn % 2}?step={turn}'")
        expect(page.locator(".player")).to_have_attribute("data-step", str(turn))
    assert is_drawn(page.locator("canvas.first"))


@pytest.mark.long
def test_the_camera_glides_for_those_who_like_it(visit: Visit, folder: Path) -> None:
    visit.page.emulate_media(reduced_motion="no-preference")
    page = visit.open(browsing.address(folder / "mine.html", "/episode/0"))
    page.locator(".player").focus()
    before = pixels(page.locator("canvas.first"))
    page.keyboard.press("ArrowRight")
    expect(page.locator(".player")).to_contain_text("Actionforward")
    assert is_drawn(page.locator("canvas.first"))
    assert becomes(lambda: bool((pixels(page.locator("canvas.first")) != before).any()))


def test_without_webgl_there_are_words(chromium: Browser, folder: Path) -> None:
    with browsing.visit(chromium, width=480, height=400, own=True) as visit:
        visit.page.add_init_script(
            "const real = HTMLCanvasElement.prototype.getContext;"
            "HTMLCanvasElement.prototype.getContext = function (kind, ...more) {"
            "  return kind === 'webgl2' ? null : real.call(this, kind, ...more); };"
        )
        page = visit.open(browsing.address(folder / "mine.html", "/episode/0"))
        expect(page.get_by_text("This browser draws no WebGL 2.")).to_be_visible()
        page.locator(".player").focus()
        page.keyboard.press("End")
        expect(page.locator(".hop.lit")).to_have_count(2)
        assert visit.complaints == []


def test_hostile_texts_stay_texts(visit: Visit, tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told(text=HOSTILE))
    append_episode(tmp_path / "mine.jsonl", episode(tmp_path, HOSTILE))
    assert main(["report", str(tmp_path / "mine.jsonl")]) == 0
    page = visit.open(browsing.address(tmp_path / "mine.html", "/episode/0"))
    expect(page.get_by_role("heading", level=1)).to_have_text(SPELLED_OUT)
    expect(page.locator("main .facts").first).to_contain_text(SPELLED_OUT)
    expect(page.locator("main b, main img")).to_have_count(0)
