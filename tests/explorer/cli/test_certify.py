"""``certify`` and ``show`` on scenes that hold, that do not, and that are none."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image

from explorer.cli import main
from explorer.files import Loaded, save_scene
from explorer.solver.certificate import certify
from tests.support.explorer.told import EMERALD, told

PUBLISHED = Path(__file__).parents[1] / "files" / "published"


@pytest.fixture(scope="module")
def proven() -> Loaded:
    loaded = told()
    return replace(loaded, certificate=certify(loaded.scene, loaded.milestones, loaded.graph, EMERALD))


def test_a_certified_scene_holds(proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_scene(tmp_path / "emerald", proven)
    assert main(["certify", str(tmp_path)]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith(f"{tmp_path / 'emerald'}: certified: 2 hops, wins in 20 steps, no plan takes fewer than ")
    assert last == "1 scene: 1 certified, 0 not"


def test_a_certificate_that_does_not_hold_is_exit_code_1(
    proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert proven.certificate is not None
    altered = replace(proven, certificate=replace(proven.certificate, lower_bound=1))
    save_scene(tmp_path / "altered", altered)
    save_scene(tmp_path / "good", proven)
    save_scene(tmp_path / "unproven", told())
    assert main(["certify", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "altered: NOT certified\n  altered_witness: lower_bound" in out
    assert "unproven: NOT certified: nothing is refuted, but it has no certificate" in out
    assert out.endswith("3 scenes: 1 certified, 2 not\n")


@pytest.mark.long
def test_workers_say_the_same_in_the_same_order(
    proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_scene(tmp_path / "a", proven)
    save_scene(tmp_path / "b", told())
    said = []
    for workers in ("1", "2"):
        assert main(["certify", str(tmp_path), str(PUBLISHED), "--workers", workers]) == 1
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith(f"{tmp_path / 'a'}: certified: ")


def test_json_is_a_line_a_scene(proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_scene(tmp_path / "good", proven)
    assert main(["certify", str(tmp_path), str(PUBLISHED), "--json"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["certified"] for row in rows] == [True, *[False] * len(list(PUBLISHED.iterdir()))]
    assert {"true_at_start", "unknown_name"} <= {each["kind"] for row in rows for each in row["findings"]}


def test_files_that_are_no_scene_are_exit_code_2_and_the_others_are_told(
    proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_scene(tmp_path / "good", proven)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "metadata.json").write_text('{"task_text": \x1b[31m')
    assert main(["certify", str(tmp_path)]) == 2
    out = capsys.readouterr().out
    assert f"error: {tmp_path / 'bad' / 'metadata.json'}" in out
    assert "\x1b" not in out
    assert out.endswith("2 scenes: 1 certified, 0 not, 1 not usable\n")


def test_an_empty_folder_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["certify", str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {tmp_path}: there are no scenes: name a folder of scenes")


def test_show_says_what_is_known_and_draws_it(
    proven: Loaded, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_scene(tmp_path / "emerald", proven)
    assert main(["show", str(tmp_path / "emerald"), "--picture", str(tmp_path / "first.png")]) == 0
    out = capsys.readouterr().out
    assert "emerald: 2 hops, 11 x 6 x 15 cells\nTask: Get the emerald.\n" in out
    assert "   after behind_the_door: the door bars the way until this is done\n" in out
    assert "   proven necessary, step 17\n" in out
    assert "certificate (rules 1): wins in 20 steps" in out
    map_lines = [line for line in out.splitlines() if line.startswith("██")]
    assert len(map_lines) == 15
    assert "D" in map_lines[8]
    assert "!" in map_lines[6]
    assert "e" in map_lines[12]
    with Image.open(tmp_path / "first.png") as picture:
        assert picture.size == (640, 480)


def test_show_of_a_published_scene_tells_its_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(PUBLISHED / "0004")]) == 0
    out = capsys.readouterr().out
    assert "no certificate\n" in out
    assert "fault: unknown_name: " in out
