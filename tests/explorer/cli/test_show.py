"""What ``show`` tells of a scene."""

from __future__ import annotations

from pathlib import Path

import pytest

from explorer.cli.show import describe_scene
from explorer.files.listing import scene_at


@pytest.mark.parametrize("scene", ["test:12", "train:3", "hard:7"])
def test_a_gate_is_told_with_its_article_and_each_kind_of_key_once(scene: str) -> None:
    gates = [line.strip() for line in describe_scene(scene_at(Path(scene))) if line.startswith("   behind ")]
    assert all(line.split()[1] in ("a", "an", "leaves") for line in gates)
    for line in gates:
        kinds = line.partition(", opened with ")[2].split(" and ")
        assert len(kinds) == len(set(kinds))
    if scene == "test:12":
        assert gates[0] == "behind a timed door, opened with an acacia button"
