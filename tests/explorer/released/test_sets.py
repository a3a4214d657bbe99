"""The released sets are whole, small, and what the generator makes of their seeds."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from explorer.cli import main
from explorer.files import scene_line
from explorer.files.listing import scene_at
from explorer.generating.releasing import RECIPES, Recipe, compose_set
from explorer.released import SETS, file_of
from explorer.solver.certificate import check
from tests.support.tiers import few

FOLDER = file_of("test").parent
MOST_BYTES = 3_000_000
SHOWN = 6
"""Scenes of each set among which is the one of 4 hops that is drawn: a release has no fewer."""
_FINGERPRINT = re.compile(r'"fingerprint": ?"([0-9a-f]{64})"')


def test_the_checksums_are_of_these_files() -> None:
    lines = (FOLDER / "SHA256SUMS").read_text("utf-8").splitlines()
    sums = {name: digest for digest, name in (line.split("  ") for line in lines)}
    assert sums == {name: hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() for name in sums}
    shipped = {path.name for path in FOLDER.iterdir() if path.suffix in (".jsonl", ".png", ".md")}
    assert set(sums) == shipped


def test_the_release_is_small() -> None:
    assert sum(path.stat().st_size for path in FOLDER.iterdir() if path.is_file()) <= MOST_BYTES


@pytest.mark.parametrize("name", few(1, SETS))
def test_the_first_scene_of_a_set_is_made_again_and_holds(name: str) -> None:
    loaded = scene_at(Path(f"{name}:1"))
    assert scene_line(loaded) == scene_line(next(compose_set(name)))
    assert loaded.certificate is not None
    assert not check(loaded.scene, loaded.milestones, loaded.graph, loaded.certificate)


def test_no_scene_is_there_twice() -> None:
    prints = [_FINGERPRINT.findall(line) for name in SETS for line in file_of(name).read_text("utf-8").splitlines()]
    assert [len(each) for each in prints] == [1] * sum(recipe.count for recipe in RECIPES.values())
    assert len({each[0] for each in prints}) == len(prints)


def test_a_scene_is_taken_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "test:12"]) == 0
    assert capsys.readouterr().out.startswith(scene_at(Path("test:12")).scene.name)


@pytest.mark.long
@pytest.mark.timeout(600)
def test_the_release_is_what_the_command_makes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert main(["release", "--check", "--quiet"]) == 0
    for name, whole in RECIPES.items():
        monkeypatch.setitem(cast(dict[str, Recipe], RECIPES), name, replace(whole, count=SHOWN))
    assert main(["release", "--check", "--quiet", "--output", str(tmp_path)]) == 1
