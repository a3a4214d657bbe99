"""The body of the grid is the one that the initial agent, the simulator and the prompts have."""

from __future__ import annotations

import ast
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from minigrid.core.actions import Actions

from spca.bodies.grid.body import GRID
from spca.bodies.grid.primitives import PRIMITIVE_METHODS, GridPrimitive
from spca.body import StateKind, render_agent
from spca.code.policy.check import violations
from spca.sense.map_text import draw, legend
from spca.sense.perception import COLOURS, VOCABULARY, vocabulary
from spca.sense.renaming import RENAMED
from spca.testing.generated_code import make_view
from tests.support.bodies.grid import show
from tests.support.spca.doubles import AGENT, ROOT

GRIDS = st.integers(1, 6).flatmap(
    lambda width: st.lists(st.lists(st.sampled_from(VOCABULARY), min_size=width, max_size=width), min_size=1)
)


def agent_class(source: str) -> ast.ClassDef:
    (found,) = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    return found


def methods(source: str) -> list[tuple[str, str | None, str]]:
    """Name, docstring and last statement of each method."""
    found = [node for node in agent_class(source).body if isinstance(node, ast.FunctionDef)]
    return [(node.name, ast.get_docstring(node), ast.unparse(node.body[-1])) for node in found]


def list_annotations(source: str) -> dict[str, str]:
    found = [node for node in agent_class(source).body if isinstance(node, ast.AnnAssign)]
    return {ast.unparse(node.target): ast.unparse(node.annotation) for node in found}


def test_the_initial_agent_has_the_primitives_of_the_body() -> None:
    assert (ROOT / GRID.agent_file).read_text(encoding="utf-8") == AGENT.text
    assert methods(AGENT.text) == methods(render_agent(GRID))
    assert [name for name, _doc, _end in methods(AGENT.text)] == [*GRID.interface.primitives]


def test_the_initial_agent_has_the_state_of_the_body() -> None:
    written, rendered = list_annotations(AGENT.text), list_annotations(render_agent(GRID))
    assert set(written) == set(rendered) == set(GRID.interface.state_names)
    arrays = {name for name, annotation in written.items() if annotation == "np.ndarray"}
    assert arrays == {name for name, kind in GRID.interface.attributes if kind != StateKind.VALUE}
    assert {*arrays, "previous_actions"} == set(GRID.interface.array_names)


def test_the_initial_agent_is_allowed() -> None:
    for source in (AGENT.text, render_agent(GRID)):
        assert violations(source, GRID.interface) == ()


def test_the_codes_are_those_of_the_simulator() -> None:
    theirs = {"left": "turn_left", "right": "turn_right", "forward": "move_forward", "pickup": "pick_up"}
    assert tuple(theirs.get(action.name, action.name) for action in Actions) == PRIMITIVE_METHODS
    assert [primitive.name.lower() for primitive in GridPrimitive] == [each.name for each in GRID.primitives]


def test_the_prompts_are_the_parts_of_the_folder() -> None:
    folder = ROOT / "spca" / "bodies" / "grid" / "prompts"
    assert dict(GRID.prompts) == {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("*.jinja")}
    assert GRID.prompts


def test_the_words_of_the_body_are_those_of_its_maps() -> None:
    assert GRID.words == (), "a plugin can add words, so a world tells them"
    assert make_view().words == tuple(VOCABULARY) == vocabulary()
    assert GRID.vocabulary is not None
    assert set(GRID.vocabulary.alike) == set(COLOURS) <= set(GRID.vocabulary.renamed) == set(RENAMED)
    swapped = GRID.vocabulary.swapped
    assert all(swapped[other] == kind for kind, other in swapped.items())


@given(GRIDS)
def test_a_swapped_map_is_redrawn_with_its_legend(grid: list[list[str]]) -> None:
    assert GRID.vocabulary is not None
    swap = {"ball": "box", "box": "ball"}
    state: dict[str, Any] = show(grid)
    GRID.vocabulary.redraw(state)
    swapped = [[" ".join(swap.get(word, word) for word in cell.split()) for cell in row] for row in grid]
    wanted = show(swapped)
    assert state["map"] == wanted["map"]
    assert state["legend"] == legend(wanted["map"])


def test_a_state_without_a_map_is_not_redrawn() -> None:
    assert GRID.vocabulary is not None
    state: dict[str, Any] = {"mission": "fetch"}
    GRID.vocabulary.redraw(state)
    assert state == {"mission": "fetch"}


def test_what_is_shown_is_drawn_as_a_map() -> None:
    shown = show((("agent", "ball red"),), "South", "key blue")
    assert GRID.drawing.draw_rows(shown) == draw((("agent", "ball red"),), "South") == ["vb"]
    heading, pose, *_rest, last = GRID.drawing.describe_end(shown)
    assert (heading, last) == ("map at the end:", "vb")
    assert pose == "the agent faces South; in its hand: key blue"


@pytest.mark.parametrize("field", ["patience", "repeats", "cpu_seconds", "wall_seconds"])
def test_the_budgets_are_those_of_the_specification(field: str) -> None:
    wanted = {"patience": 60, "repeats": 3, "cpu_seconds": 10, "wall_seconds": 60.0}
    assert getattr(GRID.budgets, field) == wanted[field]
