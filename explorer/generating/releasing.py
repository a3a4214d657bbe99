"""Make the files of the released sets of scenes.

A hop is a milestone of a scene.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import mean
from typing import Final

from explorer.files import Loaded, scene_line
from explorer.generating.composer import compose
from explorer.generating.knobs import Knobs
from explorer.picture.cards import cutaway
from explorer.picture.first_person import render
from explorer.released import SETS
from explorer.worlds.voxel import VoxelWorld
from spca.common.images import png

_EXAMPLE_HOPS: Final = 4
"""Number of hops of the scene that illustrates each set."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The settings from which a released set is made.

    Attributes:
        count: number of scenes.
        knobs: settings of the scenes: scene 0 uses the first entry, scene 1 the second, and so on, cyclically.
        says: purpose of the set, in words.
    """

    seed: int
    count: int
    knobs: tuple[Knobs, ...]
    says: str


RECIPES: Final[Mapping[str, Recipe]] = {
    "train": Recipe(101, 150, (Knobs(),), "1 to 6 hops in turn, to develop on"),
    "test": Recipe(202, 120, (Knobs(),), "1 to 6 hops in turn, from another seed, to report"),
    "hard": Recipe(
        303,
        45,
        tuple(Knobs(hops=hops, distractors=4, spare=0, distance=2) for hops in (4, 5, 6)),
        "4 to 6 hops, more things without a use, longer ways, and no block to waste",
    ),
}


def compose_set(name: str) -> Iterator[Loaded]:
    """Compose and yield the scenes of the set called ``name``."""
    recipe = RECIPES[name]
    for index in range(recipe.count):
        knobs = recipe.knobs[index % len(recipe.knobs)]
        yield compose(recipe.seed, index, knobs).loaded()


def make_files(on_scene: Callable[[], None] = lambda: None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of every file of the release; the file of checksums comes last.

    Args:
        on_scene: called after each scene.
    """
    checksums: dict[str, str] = {}
    card = [_HEAD]
    for name in SETS:
        scenes: list[Loaded] = []
        for loaded in compose_set(name):
            scenes.append(loaded)
            on_scene()
        sample = next(loaded for loaded in scenes if loaded.hops == _EXAMPLE_HOPS)
        card.append(_format_section(name, scenes, sample))

        lines = "".join(f"{scene_line(each)}\n" for each in scenes)
        content = {
            f"{name}.jsonl": lines.encode(),
            f"{name}_first_view.png": _first_view(sample),
            f"{name}_scene.png": png(cutaway(sample.scene, 480, 320)),
        }
        for file, data in content.items():
            checksums[file] = hashlib.sha256(data).hexdigest()
            yield file, data

    text = "\n".join(card).encode()
    yield "README.md", text
    checksums["README.md"] = hashlib.sha256(text).hexdigest()
    sum_lines = [f"{digest}  {file}\n" for file, digest in sorted(checksums.items())]
    yield "SHA256SUMS", "".join(sum_lines).encode()


def _first_view(loaded: Loaded) -> bytes:
    """Return a PNG image of what the agent sees at the spawn."""
    view = VoxelWorld().reset(loaded.scene)
    return png(render(view.known, view.pose, view.things, 320, 240))


_HEAD: Final = """\
# Released scenes

`python -m explorer release` writes these files again, byte for byte; seeds and knobs are in
`explorer/generating/releasing.py`. A line of a `.jsonl` file is one scene: the commands that build it, its milestones,
the graph of its hops, and its certificate (`docs/explorer.md`). `play test:12`, `run test` and `certify hard` take them
by name. `sha256sum -c SHA256SUMS` says whether they are whole. The licence is that of the project, MIT; scenes and
textures are ours, no asset of the game is in them.
"""


def _format_section(name: str, scenes: list[Loaded], sample: Loaded) -> str:
    """Return the section of the README about the set called ``name``.

    Args:
        sample: the scene that illustrates the set.
    """
    recipe = RECIPES[name]
    purpose = recipe.says[0].upper() + recipe.says[1:]
    tasks = {milestone.task for each in scenes for milestone in each.milestones}
    return f"""\
## {name}

{purpose}. Seed {recipe.seed}, {recipe.count} scenes, {len(tasks)} atomic tasks.

| hops | scenes | steps of the witness | lower bound | cells |
|---|---|---|---|---|
{_format_rows(scenes)}

![What is seen first]({name}_first_view.png) ![The scene behind it]({name}_scene.png)

"{sample.text}" ({sample.hops} hops, {sample.scene.name}): what the agent sees first, and the whole scene, which it is
never shown.
"""


def _format_rows(scenes: Iterable[Loaded]) -> str:
    """Return the rows of the table in a section: one row for each number of hops."""
    by_hops: dict[int, list[Loaded]] = {}
    for each in scenes:
        by_hops.setdefault(each.hops, []).append(each)
    return "\n".join(_format_row(hops, by_hops[hops]) for hops in sorted(by_hops))


def _format_row(hops: int, scenes: list[Loaded]) -> str:
    """Return a row of the table: the mean values of the given scenes, which all have the same number of hops."""
    certificates = [each.certificate for each in scenes if each.certificate is not None]
    steps = mean(each.witness.steps for each in certificates)
    bound = mean(each.lower_bound for each in certificates)
    cells = mean(each.scene.blocks.size for each in scenes)
    return f"| {hops} | {len(scenes)} | {steps:.0f} | {bound:.0f} | {cells:,.0f} |"
