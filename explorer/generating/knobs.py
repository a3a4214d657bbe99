"""Settings of the generator (knobs).

If the number of hops or the shape is left open, seed and index determine it. A hop is a milestone of a scene; the shape
tells how hops depend on each other.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from typing import Annotated, Final, Literal, get_args

from cyclopts import Parameter

from explorer.errors import GenerationError
from spca.common.options.values import option_group, text_option, whole_number

Shape = Literal["chain", "join", "fork", "diamond"]
"""How hops depend on each other.

``chain``: no hop needs two branches. ``join``: branches that start independently meet. ``fork``: one hop opens two
branches, which meet at the goal. ``diamond``: one hop opens two branches, which meet before the goal.
"""
SHAPES: Final[tuple[Shape, ...]] = get_args(Shape)
MIN_HOPS: Final[dict[Shape, int]] = {"chain": 1, "join": 3, "fork": 4, "diamond": 5}
"""Shape -> least number of hops of a scene with this shape."""
MAX_HOPS: Final = 6
_SHARES: Final[dict[Shape, int]] = {"chain": 10, "join": 4, "fork": 3, "diamond": 3}
"""Weight of each shape in the draw, if no shape is given."""
_Amount = Annotated[int, whole_number(0)]


@Parameter(name="*", group=option_group("Knobs"))
@dataclass(frozen=True, slots=True, kw_only=True)
class Knobs:
    """Settings of the generator, which are options of the command ``generate``, too; ``--help`` shows the docstring.

    Attributes:
        hops: hops of each scene, 0 for 1 to 6 in turn
        shape: chain, join, fork or diamond (default: a mix)
        distractors: useless things in each scene, 0 to 6 (default 1)
        spare: blocks beyond those that a bridge or pillar needs; 0: none may be wasted (default 2)
        occlusion: 1: nothing of the first hops is in view at the spawn; 0: it may be (default 1)
        distance: 0 to 2: how often things lie in a side room (default 1)
        dark: 1: most rooms have no lamps (default 0)
    """

    hops: Annotated[int, Parameter(parse=False)] = 0
    shape: Annotated[Shape | Literal[""], text_option(str, "SHAPE"), Parameter(show_choices=False)] = ""
    distractors: _Amount = 1
    spare: _Amount = 2
    occlusion: _Amount = 1
    distance: _Amount = 1
    dark: _Amount = 0

    def __post_init__(self) -> None:
        bounds = {"hops": MAX_HOPS, "distractors": 6, "spare": 32, "occlusion": 1, "distance": 2, "dark": 1}
        for name, most in bounds.items():
            value = getattr(self, name)
            if not 0 <= value <= most:
                raise GenerationError(f"{name} {value} is out of range: give 0 to {most}")
        if self.shape and self.shape not in SHAPES:
            raise GenerationError(f"unknown shape {self.shape!a}; choose from {', '.join(SHAPES)}")
        least = MIN_HOPS[self.shape] if self.shape else 0
        if self.hops and self.hops < least:
            raise GenerationError(f"a {self.shape} needs {least} hops or more, not {self.hops}")

    def settle(self, seed: int, index: int) -> Knobs:
        """Return the knobs for one scene; if the number of hops or the shape is open, choose it by seed and index
        alone.

        Raises:
            GenerationError: the seed or the index is negative.
        """
        if seed < 0 or index < 0:
            raise GenerationError(f"seed {seed} and index {index} must be 0 or more")
        least = MIN_HOPS[self.shape] if self.shape else 1
        number_of_choices = MAX_HOPS - least + 1
        # 0 hops leave the number of hops open.
        hops = self.hops or least + (seed + index) % number_of_choices
        if self.shape:
            return replace(self, hops=hops)

        shapes = [shape for shape in SHAPES if MIN_HOPS[shape] <= hops]
        weights = [_SHARES[shape] for shape in shapes]
        rng = random.Random(f"shape {seed} {index}")  # noqa: S311
        return replace(self, hops=hops, shape=rng.choices(shapes, weights)[0])
