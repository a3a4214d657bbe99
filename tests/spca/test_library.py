"""The library as prompts show it."""

from __future__ import annotations

from spca import library
from spca.contracts import PRIMITIVE_METHODS
from tests.doubles import AGENT

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
        "open_door(self, a, door) - Open a door.",
        "fetch_key(self, a, key) - Fetch a key.",
    ]
    assert library.action_listing(SOURCE, "fetch a green key").startswith("fetch_key")
    assert library.action_listing(AGENT.text, "anything") == "(none yet)"


def test_the_planner_is_shown_a_new_action_of_a_large_library() -> None:
    many = "".join(f"\n    def do_{n}(self, a):\n        yield 0\n" for n in range(300))
    listing = library.action_listing(
        SOURCE + many + "\n    def juggle(self, a):\n        yield 0\n", "juggle three balls"
    )
    assert listing.startswith("juggle(self, a)\n")
    assert len(listing.splitlines()) == library.MAX_LISTED


def test_missing_keeps_the_order_asked_for() -> None:
    assert library.missing(SOURCE, ["b", "open_door", "a", "_look"]) == ("b", "a")


def test_involved_are_the_actions_and_what_they_reach_nearest_first() -> None:
    assert library.involved(SOURCE, ["open_door"]) == ("open_door", "__init__", "_face", "_look")
    assert library.involved(SOURCE, ["unknown"]) == ()
    assert library.involved(SOURCE, PRIMITIVE_METHODS[:0]) == ()


def test_sources_come_in_the_order_of_the_file() -> None:
    text = library.sources(SOURCE, ["_look", "open_door"])
    assert text.index("def open_door") < text.index("def _look")
    assert "def _face" not in text
    assert text.startswith('def open_door(self, a, door):\n    """Open a door.\n')


def test_a_long_line_is_cut() -> None:
    source = AGENT.text + f'\n    def f(self):\n        """{"long " * 100}"""\n        yield 0\n'
    (line,) = library.action_listing(source, "").splitlines()
    assert len(line) == library.MAX_LINE
    assert line.endswith("...")


def test_methods_with_words_of_the_wanted_action_come_first_then_those_that_many_call() -> None:
    listing = library.listing(SOURCE, relevant_to=["close_door"]).splitlines()
    assert listing[0].startswith("open_door(self, a, door)")
    assert listing[1].startswith("_face(self, thing)")
    assert not any(
        line.startswith("open_door")
        for line in library.listing(SOURCE, relevant_to=[], leave_out=["open_door"]).splitlines()
    )
