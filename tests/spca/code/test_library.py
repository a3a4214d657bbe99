"""The library as prompts show it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.bodies.grid.primitives import PRIMITIVE_METHODS
from spca.code import agent_source, library, method_lists
from spca.contracts import TrustedPDDL
from tests.support.bodies import grid
from tests.support.spca.doubles import AGENT

SKILLS = '''
    def __init__(self):
        self._seen = set()

    def open_door(self, a, door):
        """Open a door.

        More about it.
        """
        yield from self._face(door)
        yield self.toggle()

    def fetch_key(self, a, key):
        """Fetch a key."""
        yield from self._face(key)
        yield self.pick_up()

    def _face(self, thing):
        self._look(thing)
        yield self.turn_left()

    def _look(self, thing):
        return thing

    def count(self):
        return 1
'''
SOURCE = AGENT.text + SKILLS


def test_actions_are_the_public_generators() -> None:
    assert [m.name for m in library.high_level_actions(SOURCE)] == ["open_door", "fetch_key"]
    assert library.high_level_actions(AGENT.text) == ()


def test_the_planner_is_shown_the_actions_that_fit_the_mission_first() -> None:
    assert library.action_listing(SOURCE, "use the key to open the DOOR and then get to the goal").splitlines() == [
        "open_door(a, door) - Open a door.",
        "fetch_key(a, key) - Fetch a key.",
    ]
    assert library.action_listing(SOURCE, "fetch a green key").startswith("fetch_key")
    assert library.action_listing(AGENT.text, "anything") == "(none yet)"


def test_words_of_the_documentation_count_after_those_of_the_name() -> None:
    told = (
        SKILLS
        + '''
    def cross(self, a, place):
        """Walk onto the goal square."""
        yield self.move_forward()
'''
    )
    assert library.action_listing(AGENT.text + told, "get to the green goal square").startswith("cross(a, place)")
    assert library.action_listing(AGENT.text + told, "fetch the goal").startswith("fetch_key")


def test_the_planner_is_shown_a_new_action_of_a_large_library() -> None:
    many = "".join(f"\n    def do_{n}(self, a):\n        yield 0\n" for n in range(300))
    listing = library.action_listing(
        SOURCE + many + "\n    def juggle(self, a):\n        yield 0\n", "juggle three balls"
    )
    assert listing.startswith("juggle(a)\n")
    lines = listing.splitlines()
    assert lines[-1] == f"(and {303 - (len(lines) - 1)} more)"
    assert len(listing) - len(lines[-1]) <= library.MAX_ACTIONS


def test_the_end_of_a_long_list_is_signatures_alone() -> None:
    doc = "What it does, in so many words that few such lines fit."
    many = "".join(f'\n    def act_{n}(self, a):\n        """{doc}"""\n        yield 0\n' for n in range(100))
    lines = library.action_listing(AGENT.text + many, "").splitlines()[:-1]
    told = [line for line in lines if line.endswith(doc)]
    assert lines[: len(told)] == told
    assert len(lines) > len(told) > 20
    assert all(line.endswith("(a)") for line in lines[len(told) :])


def test_missing_keeps_the_order_asked_for() -> None:
    assert library.missing(SOURCE, ["b", "open_door", "a", "_look"]) == ("b", "a")


def test_involved_are_the_actions_and_what_they_reach_nearest_first() -> None:
    assert grid.find_involved(SOURCE, ["open_door"]) == ("open_door", "__init__", "_face", "_look")
    assert grid.find_involved(SOURCE, ["unknown"]) == ()
    assert grid.find_involved(SOURCE, PRIMITIVE_METHODS[:0]) == ()


def test_for_a_missing_action_stands_the_one_most_like_it() -> None:
    assert grid.find_involved(SOURCE, ["close_door"]) == ("open_door", "__init__", "_face", "_look")
    assert grid.find_involved(SOURCE, ["fetch_box", "fetch_key"]) == ("fetch_key", "__init__", "_face", "_look")
    assert grid.find_involved(SOURCE, ["look"]) == ()


def test_what_the_error_names_most_often_comes_first() -> None:
    error = "plan: [open_door(a1, d), fetch_key(a1, k)]\nlast primitives: pick_up (fetch_key, line 80)\nin _look: no"
    assert grid.find_involved(SOURCE, ["fetch_key", "open_door"], error) == (
        "fetch_key",
        "open_door",
        "_look",
        "__init__",
        "_face",
    )


def points_into(*names: str) -> str:
    frames = "".join(f"  agent_tmp.py, line {n}, in {name}\n    x = 1\n" for n, name in enumerate(names, 1))
    return f"traceback:\nTraceback (most recent call last):\n{frames}ValueError\nprimitives executed: 0"


def test_what_the_error_points_into_is_always_there_and_first() -> None:
    assert grid.find_involved(SOURCE, ["fetch_key"], points_into("open_door", "_face"))[:3] == (
        "_face",
        "open_door",
        "fetch_key",
    )
    assert grid.find_involved(SOURCE, [], points_into("open_door", "_face"), 0) == ("_face", "open_door")
    primitives = "last primitives: toggle (open_door > _look, line 80); move_forward (move_forward, line 9)"
    assert grid.find_involved(SOURCE, [], primitives, 0) == ("_look", "open_door")
    assert grid.find_involved(SOURCE, [], points_into("no_method", "turn_left", "__class__"), 0) == ()


def test_of_what_is_too_long_the_places_are_shown() -> None:
    filling = "        # nothing\n" * (library.MAX_SOURCE // 10)
    source = AGENT.text + SKILLS.replace("        return thing\n", f"{filling}        return thing\n")
    line = source.splitlines().index("        return thing") + 1
    error = f"  agent_tmp.py, line {line}, in _look\n    return thing\nlast primitives: toggle (open_door, line 9)"
    names = grid.find_involved(source, ["fetch_key"], error)
    assert "_look" not in names
    assert names[0] == "open_door"
    shown = grid.excerpts(source, error, names).splitlines()
    first = source.splitlines().index("    def _look(self, thing):") + 1
    assert shown[0] == f"(of _look, lines {first}-{line}, around the places named:)"
    assert shown[1:] == ["        # nothing"] * 5 + ["        return thing"]
    assert grid.excerpts(source, error, [*names, "_look"]) == ""
    assert len(grid.excerpts(source + "        # nothing\n", points_into("_look") * 999, ())) <= library.MAX_EXCERPTS


def test_a_coder_sees_first_docstring_lines_whole_or_not_at_all() -> None:
    made = [f'\n    def _f{n}(self):\n        """{"long " * 40}{n}."""\n        return 1\n' for n in range(9)]
    lines = grid.listing(AGENT.text + "".join(made), relevant_to=[]).splitlines()
    assert len(lines) == 9
    told = [line for line in lines if " - " in line]
    assert len(told) > 3
    assert all(line.endswith(f"long {n}.") for n, line in enumerate(told))
    assert sum(map(len, lines)) < library.MAX_METHODS
    huge = f'\n    def _huge(self):\n        """{"long " * 999}"""\n        return 1\n'
    assert grid.listing(AGENT.text + huge + made[0], relevant_to=["huge"]).splitlines()[0] == "_huge(self)"


@pytest.mark.long
@settings(max_examples=25)
@given(st.lists(st.integers(1, 40), min_size=1, max_size=9), st.integers(0, library.MAX_SOURCE))
def test_all_that_an_error_points_into_is_shown_while_it_fits(lengths: list[int], room: int) -> None:
    body = "        yield 0\n"
    methods = "".join(f"\n    def act_{n}(self, a):\n{body * length}" for n, length in enumerate(lengths))
    source, names = AGENT.text + methods, [f"act_{n}" for n in range(len(lengths))]
    sizes = sum(len(agent_source.method_source(source, name)) + 2 for name in names)
    shown = grid.find_involved(source, [], points_into(*names), room)
    assert set(shown) == set(names) or sizes > library.MAX_SOURCE


def test_the_method_of_a_line_is_found() -> None:
    lines = SOURCE.splitlines()
    at = library.method_at(SOURCE)
    assert at(lines.index("    def open_door(self, a, door):") + 2) == "open_door"
    assert (at(1), at(0), at(len(lines) + 9)) == ("", "", "")


def test_a_method_that_does_not_fit_is_left_out_whole() -> None:
    filling = "        # nothing\n" * (library.MAX_SOURCE // 10)
    source = AGENT.text + SKILLS.replace("        return thing\n", f"{filling}        return thing\n")
    assert grid.find_involved(source, ["open_door"]) == ("open_door", "__init__", "_face")
    large = AGENT.text + SKILLS.replace("        yield self.toggle()\n", f"        yield self.toggle()\n{filling}")
    assert grid.find_involved(large, ["open_door", "fetch_key"]) == ("fetch_key", "__init__", "_face", "_look")


@pytest.mark.long
@settings(max_examples=25)
@given(st.lists(st.integers(1, 200), min_size=1, max_size=12))
def test_sources_are_bounded_and_whole(lengths: list[int]) -> None:
    body = "        yield 0\n"
    methods = "".join(f"\n    def act_{n}(self, a):\n{body * length}" for n, length in enumerate(lengths))
    source = AGENT.text + methods
    names = grid.find_involved(source, [f"act_{n}" for n in range(len(lengths))])
    shown = library.sources(source, names)
    assert sum(len(agent_source.method_source(source, name)) for name in names) <= library.MAX_SOURCE
    assert all(agent_source.method_source(source, name) in shown for name in names)


def test_trusted_pddl_is_shown_whole_or_not_at_all() -> None:
    small, large = "(define)", "(" * (library.MAX_TRUSTED + 1)
    assert library.fit_trusted_pddl(TrustedPDDL(small, small)) == {"domain": small, "problem": small}
    assert library.fit_trusted_pddl(TrustedPDDL(small, large)) == {"domain": small}
    assert library.fit_trusted_pddl(TrustedPDDL(large, small)) == {}


def test_sources_come_in_the_order_of_the_file_with_their_lines() -> None:
    assert library.sources(SOURCE, []) == ""
    text = library.sources(SOURCE, ["_look", "open_door"])
    places, _, text = text.partition("\n\n")
    first = SOURCE.splitlines().index("    def open_door(self, a, door):") + 1
    assert places.startswith(f"(lines: open_door {first}-{first + 6}, _look ")
    assert text.index("def open_door") < text.index("def _look")
    assert "def _face" not in text
    assert text.startswith('def open_door(self, a, door):\n    """Open a door.\n')


def test_a_long_line_is_cut_between_two_words() -> None:
    source = AGENT.text + f'\n    def f(self):\n        """{"long " * 100}"""\n        yield 0\n'
    (line,) = library.action_listing(source, "").splitlines()
    assert method_lists.MAX_LINE - len("long ") < len(line) <= method_lists.MAX_LINE
    assert line.endswith("long long ...")


def test_methods_with_words_of_the_wanted_action_come_first_then_those_that_many_call() -> None:
    listing = grid.listing(SOURCE, relevant_to=["close_door"]).splitlines()
    assert listing[0].startswith("open_door(self, a, door)")
    assert listing[1].startswith("_face(self, thing)")
    assert not any(
        line.startswith("open_door")
        for line in grid.listing(SOURCE, relevant_to=[], leave_out=["open_door"]).splitlines()
    )


def test_a_coder_is_shown_signatures_as_they_are_written() -> None:
    walk = """
    def _walk(self, cell, *, steps: int = 9):
        \"""Walk.\"""
        yield self.move_forward()
"""
    listing = grid.listing(SOURCE + walk, relevant_to=["walk"]).splitlines()
    assert listing[0] == "_walk(self, cell, *, steps: int=9) yields - Walk."
    assert "_look(self, thing)" in listing
    assert "open_door(self, a, door) yields - Open a door." in listing


def test_sources_take_the_room_that_is_left() -> None:
    assert library.room_for_sources("") == library.MAX_SOURCE
    full = library.MAX_PROMPT - library.MAX_METHODS
    assert library.room_for_sources("x" * (full - 100)) == 100
    assert library.room_for_sources("x" * (full + 100)) == 0
    assert grid.find_involved(SOURCE, ["open_door"], "", 0) == ()
