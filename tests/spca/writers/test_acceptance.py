"""Which drafts of writers are kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource
from spca.errors import WorldError
from spca.sandbox.executor import SandboxExecutor
from spca.writers.acceptance import UNREADABLE
from spca.writers.library import WriterLibrary
from spca.writers.stored import Case, StoredWriter
from tests.support.spca.doubles import AGENT
from tests.support.spca.writing import DOMAIN, FETCH, PlayedWorlds, case, make_problem, problem, solve, state, writer

MORE = FETCH.replace('"fetch the', '"(?:fetch|bring me) the')
"""A later version of the example, which reads more."""

WALK = Case(state("walk on"), problem("a1"), replace(case().solved, plan=replace(case().solved.plan, problem="")))


@pytest.fixture
def worlds() -> PlayedWorlds:
    return PlayedWorlds()


@pytest.fixture
def library(executor: SandboxExecutor, worlds: PlayedWorlds) -> WriterLibrary:
    return WriterLibrary(executor, solve, GRID, worlds)


def consider(library: WriterLibrary, source: str, solved: Case | None = None, agent: AgentSource = AGENT) -> str:
    return library.consider(writer(source), solved or case(), agent, "fetching/Fetch-v0")


@pytest.mark.long
def test_a_writer_that_reads_its_snapshot_is_kept(library: WriterLibrary, worlds: PlayedWorlds) -> None:
    assert consider(library, FETCH) == ""
    assert library.stored == (StoredWriter(writer(), 1, "fetching/Fetch-v0", (case(),)),)
    assert not worlds.played


@pytest.mark.long
def test_a_later_version_takes_its_place(library: WriterLibrary) -> None:
    asked = case("bring me the blue key", "key_blue")
    assert consider(library, FETCH) == ""
    assert consider(library, MORE, asked) == ""
    assert library.stored == (StoredWriter(writer(MORE), 2, "fetching/Fetch-v0", (case(), asked)),)


THING = "import re\nmatch = re.fullmatch(r'fetch the (\\w+) (\\w+)', snapshot['mission'])\n"
CONSTANT = f"return '''{problem()}'''"
REFUSED = {
    "constant": (CONSTANT, "it does not follow when mission and map speak of other colours: :objects has (ball_red "),
    "refuses its own": ("raise ValueError('too hard')", "it refuses its own snapshot: too hard"),
    "crashing": ("return snapshot['moves']", "it fails on its own snapshot: KeyError: 'moves' (line 2)"),
    "empty": ("return ''", "what it writes for its own snapshot is no problem: the problem does not begin"),
    "deep": (
        "return '(' * 9000 + ')' * 9000",
        "what it writes for its own snapshot is no problem: the problem cannot be",
    ),
    "lying": (
        "return make('key_blue')",
        "for its own snapshot it does not write the problem of the same answer: :objects has (key_blue object) and "
        "lacks (ball_red object); :init has (at key_blue) and lacks (at ball_red); the goal has (fetched key_blue)",
    ),
    "changing": (
        f"return '''{problem()}''' + str(lambda: 0).replace('<', ';')",
        "it does not write the same problem twice for its own snapshot",
    ),
    "importing": (f"import os\n{CONSTANT}", "line 2: module os is not available"),
    "one colour": (
        "if 'red' in snapshot['mission']:\n    return make('ball_red')\nreturn make('ball_blue')",
        "it does not follow when mission and map speak of other colours",
    ),
    "one kind": (
        f"{THING}if match is None:\n    raise ValueError('no')\nreturn make('ball_' + match[1])",
        "it writes the same problem when mission and map speak of boxes instead of balls",
    ),
    "reading the beginning": (
        "colour, thing = snapshot['mission'].split()[2:4]\nreturn make(thing + '_' + colour)",
        "it must raise ValueError for a mission that it cannot read to the last word",
    ),
    "crashing on other colours": (
        "return make({'fetch the red ball': 'ball_red'}[snapshot['mission']])",
        "it does not follow when mission and map speak of other colours: KeyError: 'fetch the ",
    ),
}
MAKE = f"""

def make(thing):
    return '''{problem()}'''.replace('ball_red', thing)
"""


@pytest.mark.parametrize(("body", "words"), REFUSED.values(), ids=REFUSED.keys())
def test_a_writer_that_does_not_is_refused(library: WriterLibrary, body: str, words: str) -> None:
    reason = consider(library, make_problem(body) + MAKE)
    assert reason.startswith(f"fetch: {words}")
    assert reason.isprintable()
    assert len(reason) <= 400
    assert library.stored == ()
    assert library.rejection == reason


@pytest.mark.parametrize(
    "body",
    [
        "if snapshot['mission'] != 'fetch the red ball':\n    raise ValueError('no')\nreturn make('ball_red')",
        f"{THING}if match is None or match[2] != 'ball':\n    raise ValueError('no')\nreturn make('ball_' + match[1])",
        f"{THING}return make(match[2] + '_' + match[1])",
    ],
    ids=["one mission", "one kind", "crashing"],
)
def test_one_that_reads_little_or_refuses_late_is_kept(library: WriterLibrary, body: str) -> None:
    assert consider(library, make_problem(body) + MAKE) == ""


def goal_case(mission: str) -> Case:
    here = {**state(mission), "known_objects": {"goal green": [[0, 1]], "ball red": [[0, 2]]}}
    return replace(case(thing="goal_green"), state=here)


@pytest.mark.long
def test_where_only_the_goal_has_a_colour_that_colour_may_be_assumed(library: WriterLibrary) -> None:
    reads = "if 'goal square' != snapshot['mission'][-11:]:\n    raise ValueError('no goal')\nreturn make('goal_green')"
    assert consider(library, make_problem(reads) + MAKE, goal_case("get to the green goal square")) == ""
    follows = "import re\nreturn make('goal_' + re.fullmatch('get to the (.*) goal square', snapshot['mission'])[1])"
    assert consider(library, make_problem(follows) + MAKE, goal_case("get to the green goal square")) == ""


@pytest.mark.parametrize("mission", ["get to the green goal square", "reach the goal"])
def test_a_constant_is_refused_even_where_no_colour_matters(library: WriterLibrary, mission: str) -> None:
    reason = consider(library, make_problem("return make('goal_green')") + MAKE, goal_case(mission))
    told = f"it must raise ValueError for a mission that it cannot read to the last word, such as '...{UNREADABLE}'"
    assert reason == f"fetch: {told}"


@pytest.mark.long
def test_a_goal_that_stays_while_the_kinds_change_is_refused(library: WriterLibrary) -> None:
    """Where a mission tells no colour, only kinds can show it."""
    body = "import re\nname = re.fullmatch('fetch the (ball|box)', snapshot['mission'])[1]\n"
    body += "return make(name).replace('(fetched ' + name, '(fetched ball')"
    plain = Case(state("fetch the ball"), problem("ball"), case("fetch the ball", "ball").solved)
    reason = consider(library, make_problem(body) + MAKE, plain)
    assert reason == (
        "fetch: when mission and map speak of boxes instead of balls, or of balls instead, its problem names what it "
        "does not declare: ball"
    )


@pytest.mark.long
def test_a_version_must_read_all_that_was_solved(library: WriterLibrary) -> None:
    consider(library, MORE, case("bring me the blue key", "key_blue"))
    reason = consider(library, FETCH)
    assert reason == (
        "fetch: for the mission 'bring me the blue key', which was solved, cannot read bring me the blue key"
    )
    assert [stored.label for stored in library.stored] == ["fetch/v001"]
    assert library.stored[0].writer.source == MORE


OTHER_PLAN = FETCH.replace("    return", "    if thing == 'key_blue':\n        thing = 'key_any'\n    return").replace(
    "fetch the", "(?:fetch|bring me) the"
)


@pytest.mark.long
def test_other_facts_pass_where_the_plan_is_the_same(library: WriterLibrary, worlds: PlayedWorlds) -> None:
    consider(library, FETCH, case("fetch the blue key", "key_blue"))
    changed = FETCH.replace("(at {thing})", "(at {thing}){' (fits key door)' if match[2] == 'key' else ''}")
    assert consider(library, changed) == ""
    assert not worlds.played


@pytest.mark.parametrize("succeeds", [True, False])
def test_a_changed_plan_is_played_again(library: WriterLibrary, worlds: PlayedWorlds, succeeds: bool) -> None:
    consider(library, FETCH, case("fetch the blue key", "key_blue", seed=7))
    worlds.succeeds = lambda _plan: succeeds
    reason = consider(library, OTHER_PLAN)
    assert worlds.played == [("Fetch-v0", 7, case().solved.checkpoint, "[fetch(a1, key_any)]")]
    assert worlds.open == 0
    assert library.stored[0].version == (2 if succeeds else 1)
    told = "fetch: for the mission 'fetch the blue key', which was solved, the plan [fetch(a1, key_blue)] becomes "
    assert reason == ("" if succeeds else f"{told}[fetch(a1, key_any)], which ends with stuck: it ended")


def test_a_changed_plan_that_cannot_be_played_again_is_refused(
    library: WriterLibrary, worlds: PlayedWorlds, executor: SandboxExecutor
) -> None:
    consider(library, FETCH, case("fetch the blue key", "key_blue"))
    worlds.error = WorldError("no such world")
    assert "the level cannot be played again: no such world" in consider(library, OTHER_PLAN)
    alone = WriterLibrary(executor, solve, GRID)
    consider(alone, FETCH, case("fetch the blue key", "key_blue"))
    assert consider(alone, OTHER_PLAN).endswith("becomes [fetch(a1, key_any)], which cannot be tried here")


def test_a_version_without_a_plan_is_refused(library: WriterLibrary) -> None:
    consider(library, FETCH, case("fetch the blue key", "key_blue"))
    lost = FETCH.replace("(at {thing})", "{'(at ' + thing + ')' if 'blue' not in thing else ''}")
    assert consider(library, lost).endswith("which was solved, there is no plan any more: unsolvable: it is not there")


@pytest.mark.long
def test_another_domain_is_solved_again(library: WriterLibrary, worlds: PlayedWorlds) -> None:
    consider(library, FETCH)
    wider = DOMAIN.replace("(fetched ?t)", "(fetched ?t) (seen ?t)", 1)
    draft = replace(writer(), domain=wider)
    solved = case("fetch the blue key", "key_blue")
    assert library.consider(draft, solved, AGENT, "b") == ""
    assert library.stored[0].writer.domain == wider
    assert not worlds.played


def test_a_name_that_is_no_identifier_is_refused(library: WriterLibrary) -> None:
    for name in ("", "../up", "Fetch", "x" * 41):
        assert "name" in library.consider(writer(name=name), case(), AGENT, "b")
    assert library.stored == ()
