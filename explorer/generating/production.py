"""Count what generated scenes contain.

A draft is an attempt at a scene, which is kept or rejected. A gadget is a kind of gate, or a recipe. A hop is a
milestone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from explorer.generating.composer import Composed, Rejected


@dataclass(frozen=True, slots=True)
class Figures:
    """The countable features of a scene.

    Attributes:
        tasks: ids of the atomic tasks of the scene's milestones.
        rejected: the drafts that were rejected before this scene, for the same seed and index.
    """

    hops: int
    shape: str
    gadgets: tuple[str, ...]
    tasks: tuple[str, ...]
    rejected: tuple[Rejected, ...]

    @classmethod
    def from_composed(cls, composed: Composed) -> Figures:
        """Return the figures of a scene."""
        drafted = composed.drafted
        tasks = tuple(milestone.task for milestone in drafted.milestones)
        return cls(drafted.knobs.hops, drafted.knobs.shape, tuple(drafted.gadgets), tasks, composed.rejected)


@dataclass(slots=True)
class Tally:
    """Counts over a set of scenes.

    Attributes:
        hops, shapes, gadgets, tasks: value -> number of scenes with this value.
        rejected: reason -> number of drafts rejected for this reason.
        drafts: gadget -> number of drafts that contain the gadget, whether kept or rejected.
    """

    scenes: int = 0
    hops: Counter[int] = field(default_factory=Counter)
    shapes: Counter[str] = field(default_factory=Counter)
    gadgets: Counter[str] = field(default_factory=Counter)
    tasks: Counter[str] = field(default_factory=Counter)
    rejected: Counter[str] = field(default_factory=Counter)
    drafts: Counter[str] = field(default_factory=Counter)

    def count(self, made: Figures) -> None:
        """Add a scene, described by its figures, and the drafts that were rejected before it to the counts."""
        self.scenes += 1
        self.hops[made.hops] += 1
        self.shapes[made.shape] += 1
        self.gadgets.update(made.gadgets)
        self.drafts.update(made.gadgets)
        self.tasks.update(made.tasks)
        for draft in made.rejected:
            self.rejected[draft.reason] += 1
            self.drafts.update(draft.gadgets)

    def format_lines(self) -> Iterable[str]:
        """Yield the counts as lines of text."""
        dropped = self.rejected.total()
        yield f"scenes {self.scenes}, drafts dropped {dropped}, atomic tasks {len(self.tasks)}"

        hops = [f"{number}: {self.hops[number]}" for number in sorted(self.hops)]
        yield "hops " + ", ".join(hops)

        shapes = [f"{shape}: {count}" for shape, count in self.shapes.most_common()]
        branched = self.scenes - self.shapes["chain"]
        yield f"shapes {', '.join(shapes)}, so with branches: {branched}"

        for gadget, count in self.gadgets.most_common():
            kept = count / self.drafts[gadget]
            share = count / self.scenes
            yield f"gadget {gadget}: in {share:.1%} of scenes, {kept:.0%} of its drafts kept"
        for reason, count in self.rejected.most_common():
            yield f"dropped {reason}: {count}"
