"""Results become a page: rates, rows, and films of those whose scenes are found."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from explorer.cli import main
from explorer.evaluation.results import Episode, append_episode
from explorer.files import save_scene, scene_line
from explorer.report.pages import PLAY_PAGE, REPORT_PAGE
from explorer.report.reading import Read, Shelf, report
from spca.common.web.packing import pack
from tests.support.explorer.told import EMERALD, TEXT, told
from tests.support.report.pages import read_pieces


def episode(scene: str = "emerald", *, model: str = "human", solved: bool = True, source: str = "") -> Episode:
    latched = {"behind_the_door": 17, "emerald": 20} if solved else {}
    return Episode(
        scene, 2, model, latched, solved, len(EMERALD), codes=EMERALD, ended="goal" if solved else "done", source=source
    )


def test_rates_rows_and_films() -> None:
    played = [Read(episode()), Read(episode(model="random", solved=False)), Read(episode("lost"))]
    made = read_pieces(report(played, "Title", Shelf([told()])))
    assert set(made) == {"script", "report", "look", "episode/0", "episode/1"}
    rates = [(row["model"], row["hops"], row["tsr"]["good"]) for row in made["report"]["rates"]]
    assert rates == [("human", 2, 2), ("human", None, 2), ("random", 2, 0), ("random", None, 0)]
    won, missed, lost = made["report"]["episodes"]
    assert (won["text"], won["latched"], won["why"]) == (TEXT, [17, 20], "")
    assert (missed["text"], missed["latched"], missed["why"]) == (TEXT, [None, None], "")
    assert (lost["text"], lost["latched"]) == (lost["scene"], [17, 20])
    assert lost["why"] == "the scene lost was not found: name its folder by --scenes"
    assert len(made["episode/0"]["milestones"]) == 2


def test_scenes_are_found_by_source_beside_the_results_and_by_folder(tmp_path: Path) -> None:
    save_scene(tmp_path / "a" / "emerald", told())
    found = [
        Read(episode(source=str(tmp_path / "a" / "emerald"))),
        Read(episode(source="moved/emerald"), tmp_path / "a"),
        Read(episode(source="a/emerald"), tmp_path),
        Read(episode()),
        Read(episode(source="/nowhere/emerald")),
    ]
    made = read_pieces(report(found, "Title", Shelf(folder=tmp_path / "a")))
    assert [row["why"] for row in made["report"]["episodes"]] == [""] * 5
    made = read_pieces(report(found, "Title", Shelf()))
    assert [not row["why"] for row in made["report"]["episodes"]] == [True, True, True, False, False]
    assert made["report"]["episodes"][4]["why"].startswith("emerald: cannot read")
    assert not [row["why"] for row in made["report"]["episodes"] if str(tmp_path) in row["why"]]


def test_scenes_of_a_file_are_found_by_line(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text("".join(f"{scene_line(told(name=name))}\n" for name in ("first", "emerald")))
    sources = (f"{path}:2", "moved/set.jsonl:2", f"{path}:1", f"{path}:3", "nowhere:1")
    found = [Read(episode(source=source), tmp_path) for source in sources]
    made = read_pieces(report(found, "Title", Shelf()))
    assert [not row["why"] for row in made["report"]["episodes"]] == [True, True, False, False, False]


def test_a_scene_of_another_name_is_not_taken_for_it(tmp_path: Path) -> None:
    save_scene(tmp_path / "emerald", told(name="other"))
    (row,) = read_pieces(report([Read(episode(), tmp_path)], "Title", Shelf()))["report"]["episodes"]
    assert row["why"]


def test_codes_that_do_not_play_are_a_row_that_says_so() -> None:
    broken = Episode("emerald", 2, "human", codes=(17, 1), steps=2)
    (row,) = read_pieces(report([Read(broken)], "Title", Shelf([told()])))["report"]["episodes"]
    assert row["text"] == TEXT
    assert row["why"].startswith("step 2 of 2 cannot be played")


def test_the_page_asks_nobody_for_anything_and_the_same_results_give_the_same_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("time.time", lambda: 1.0)
    page = report([Read(episode())], "Title", Shelf([told()]))
    assert page == report([Read(episode())], "Title", Shelf([told()]))
    assert "default-src &#39;none&#39;" in page
    assert not re.search(r"(?:src|href)=[\"']?(?:https?:)?//", page)
    assert REPORT_PAGE.policy() != PLAY_PAGE.policy()


def test_hostile_texts_are_no_markup() -> None:
    nasty = "</script><img src=x onerror=alert(1)>\x1b[2J\u202e"
    page = REPORT_PAGE.render(nasty, {"x": pack({"text": nasty, nasty: nasty})})
    assert "<img" not in page
    assert "\x1b" not in page
    assert "\u202e" not in page


def test_the_command_writes_a_page_beside_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_scene(tmp_path / "emerald", told())
    append_episode(tmp_path / "mine.jsonl", episode())
    append_episode(tmp_path / "mine.jsonl", episode(solved=False))
    assert main(["report", str(tmp_path / "mine.jsonl")]) == 0
    out = capsys.readouterr().out
    assert "human, 2 hops: 2 episodes, TSR 50.0% (9.5% to 90.5%), MSR 50.0% (15.0% to 85.0%)\n" in out
    assert f"page: {tmp_path / 'mine.html'} (" in out
    assert read_pieces((tmp_path / "mine.html").read_text())["report"]["episodes"][1]["why"] == ""


@pytest.mark.parametrize("content", [None, "", "{}\n", "nonsense\n", '{"scene": 1}\n'])
def test_results_that_are_none_are_one_line(
    content: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "mine.jsonl"
    if content is not None:
        path.write_text(content)
    assert main(["report", str(path)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"error: {path}")
    assert said.count("\n") == 1
    assert not path.with_suffix(".html").exists()


def test_the_page_never_replaces_the_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    append_episode(tmp_path / "mine.html", episode())
    assert main(["report", str(tmp_path / "mine.html")]) == 2
    assert "is the results file; choose another --output" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "long" * 1_000])
def test_an_episode_whose_scene_no_file_can_be_called_is_a_row_without_a_film(tmp_path: Path, name: str) -> None:
    results = tmp_path / "results.jsonl"
    for each in (episode(name), episode(source=name), episode()):
        append_episode(results, each)
    save_scene(tmp_path / "emerald", told())
    assert main(["report", str(results)]) == 0
    made = read_pieces(results.with_suffix(".html").read_text("utf-8"))
    assert [row["why"] for row in made["report"]["episodes"]][-1] == ""
