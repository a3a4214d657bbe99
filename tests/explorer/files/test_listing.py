"""Scenes by the paths that a user names."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.errors import SceneError
from explorer.files import save_scene, scene_line
from explorer.files.listing import scene_at, scenes_at
from tests.support.explorer.played import walk


def names(*paths: Path) -> list[tuple[str, str]]:
    return [(loaded.scene.name, loaded.source) for loaded in scenes_at(paths)]


def test_folders_and_lines_are_found_in_order(tmp_path: Path) -> None:
    for name in ("two", "one", "three"):
        save_scene(tmp_path / "set" / name, walk(name))
    (tmp_path / "set" / "notes").mkdir()
    lines = tmp_path / "set.jsonl"
    lines.write_text(f"{scene_line(walk('first'))}\n\n{scene_line(walk('second'))}")
    folder = tmp_path / "set"
    assert names(folder) == [(name, str(folder / name)) for name in ("one", "three", "two")]
    assert names(lines, folder / "two") == [
        ("first", f"{lines}:1"),
        ("second", f"{lines}:3"),
        ("two", str(folder / "two")),
    ]


def test_nothing_and_broken_scenes_are_named(tmp_path: Path) -> None:
    empty, broken = tmp_path / "empty.jsonl", tmp_path / "broken.jsonl"
    empty.write_text("\n")
    broken.write_text(f"{scene_line(walk())}\n{{}}\n")
    for path, words in (
        (tmp_path, f"^{tmp_path}: there are no scenes: name a folder"),
        (tmp_path / "nowhere", "nowhere: cannot read scenes: No such file"),
        (empty, r"empty\.jsonl: there are no scenes: the file is empty"),
        (broken, r"broken\.jsonl:2: expected an object with metadata"),
    ):
        with pytest.raises(SceneError, match=words):
            names(path)


@pytest.mark.parametrize("name", ["a\0b", "\ud800", "long" * 1_000])
def test_names_that_no_file_can_have_are_refused(name: str) -> None:
    for path in (Path(name), Path(f"{name}:1")):
        with pytest.raises(SceneError, match="cannot read scenes: ") as caught:
            names(path)
        str(caught.value).encode()


def test_a_line_of_a_file_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "set.jsonl"
    file.write_text("".join(f"{scene_line(walk(name))}\n" for name in ("one", "two")), "utf-8")
    assert scene_at(Path(f"{file}:2")).scene.name == "two"
    with pytest.raises(SceneError, match="there is no scene in line 3; the last one is in line 2"):
        scene_at(Path(f"{file}:3"))
    with pytest.raises(SceneError, match="there are several scenes"):
        scene_at(file)


def test_a_folder_comes_before_the_released_set_of_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_scene(tmp_path / "test", walk("mine"))
    assert scene_at(Path("test")).scene.name == "mine"
