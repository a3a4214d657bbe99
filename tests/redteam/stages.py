"""The bodies that attacks have: the grid's, and the machine's, which a plugin brings as data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from spca.bodies.grid.body import GRID
from spca.body import Body
from spca.common.plugins.sources import PluginSource
from spca.contracts import AgentSource, AgentView, LevelSpec
from spca.plugins.registry import find_world, load_plugins
from spca.testing.generated_code import make_view
from tests.support.contracts.executing import methods
from tests.support.inprocess import InProcessExecutor

_EXAMPLE: Final = Path(__file__).resolve().parents[2] / "examples" / "vending"


@dataclass(frozen=True, slots=True)
class Stage:
    """A body, what its agent sees, and harmless code that yields 0, 1, 2 if it sees that.

    Attributes:
        replaced: names in the sources of attacks, each with the name that takes its place.
    """

    body: Body
    view: Callable[[], AgentView]
    benign: AgentSource
    replaced: tuple[tuple[str, str], ...] = ()

    def translate(self, source: str) -> str:
        """Return the source of an attack with the names of this body."""
        for old, new in self.replaced:
            source = source.replace(old, new)
        return source


def make_grid_stage() -> Stage:
    benign = methods("""
        def look(self):
            for code in (0, 1, 2):
                yield code if (self.full_grid == "key blue").any() else 6
    """)
    return Stage(GRID, make_view, benign)


def make_machine_stage() -> Stage:
    """Load the plugin in this process, and return its body with a view of its world."""
    sys.path.insert(0, str(_EXAMPLE))
    load_plugins([PluginSource.parse("vending")])
    world = find_world("vending")
    assert world is not None
    with closing(world.make(LevelSpec("MyLab/Vending-v0"), 1, InProcessExecutor())) as machine:
        view: AgentView = machine._agent_view()  # type: ignore[attr-defined]
    benign = methods("""
        def look(self):
            for code in (0, 1, 2):
                yield code if (self.labels == "unknown").any() else 3
    """)
    replaced = (
        ("self.full_grid[0, 0]", "self.labels[0]"),
        ("full_grid", "labels"),
        ('current_dir = "East"', "selected = 0"),
    )
    return Stage(world.body, lambda: view, benign, replaced)


STAGES: Final[dict[str, Callable[[], Stage]]] = {"grid": make_grid_stage, "machine": make_machine_stage}
