"""What a writer's source may contain, and what of an answer is a draft."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.contracts import ProblemWriter
from spca.writers.checking import MAX_NAME, draft, fault_of
from tests.support.spca.writing import DOMAIN, FETCH, make_problem

GOOD = {
    "the example": FETCH,
    "names that builtins have too": make_problem("type = id = 'ball'\nreturn ''.join(object for object in [type, id])"),
    "no import": make_problem("return '{0}'.format(snapshot['mission'])"),
    "templates": make_problem(
        """
        place = "(at {thing[name]} {0[0]!r:>{width}}) at 1.5 {{x.y}} {}."
        return place.format("ab", 3, thing=snapshot, width=4) + "{mission}.".format_map(snapshot)
        """
    ),
    "a pattern that looks like a template": make_problem("return r'{.+}' + r'[a-z]{2}.x{1,2}' + '{}'.format(1)"),
    "a template that nothing formats": make_problem("return '{0.x}' + snapshot['mission']"),
    "from re": "from __future__ import annotations\n\nfrom re import fullmatch\n" + make_problem("return fullmatch"),
    "constants and helpers": "KINDS = ('ball', 'box')\n\n\ndef drop(mission):\n    return mission\n\n\n" + FETCH,
    "computed constants": "KINDS = '|'.join(('ball', 'box'))\nTHING = rf'the ({KINDS})'\n\n\n" + FETCH,
    "constants that are computed in a loop": (
        "import re\n\nKINDS = ['ball', 'box']\nTHING = re.compile('|'.join(KINDS))\nPLACES = {}\n"
        "for kind in KINDS:\n    PLACES[kind] = len(PLACES)\n\n\n"
        + make_problem("return THING.fullmatch(snapshot['mission'])[0]")
    ),
    "what a primitive is called": make_problem("done = toggle = snapshot['mission']\nreturn done + toggle"),
}
BAD = {
    "": "defines no function make_problem",
    "def make_problem(snapshot:\n": "syntax error at line 1",
    "make_problem = len\n": "defines no function make_problem",
    "import os\n" + FETCH: "module os is not available",
    "import collections\n" + FETCH: "line 1: module collections is not available: a writer may import re alone",
    make_problem("import numpy\nreturn ''"): "line 2: module numpy is not available",
    make_problem("print(snapshot)\nreturn ''"): "line 2: print nothing: return the problem",
    make_problem("return open('x').read()"): "line 2: open is not available",
    make_problem("return getattr(snapshot, 'mission')"): "line 2: getattr is not available to a writer",
    make_problem("return __builtins__['open']"): "line 2: __builtins__ is not available to a writer",
    make_problem("return ().__class__"): "the attribute __class__ is not available",
    make_problem("return snapshot._x"): "the attribute _x is not available",
    make_problem("return (i for i in ()).gi_frame"): "the attribute gi_frame is not available",
    make_problem("try:\n    return ''\nexcept AttributeError as error:\n    return error.obj"): "the attribute obj",
    make_problem("match snapshot:\n    case AttributeError(obj=x):\n        return x"): "the attribute obj",
    make_problem(
        "return '{0.gi_frame.f_back}'.format(iter(''))"
    ): "line 2: the format field {0.gi_frame.f_back} reaches",
    "T = '{[0].x}'\n\n\n" + make_problem("return T.format([snapshot])"): "line 1: the format field {[0].x} reaches",
    make_problem("return str.format('{:{x.y}}', 1, x=snapshot)"): "the format field {x.y} reaches",
    make_problem("return '{mission.x}'.format_map(snapshot)"): "the format field {mission.x} reaches",
    make_problem("match snapshot:\n    case dict(__class__=x):\n        return x"): "the attribute __class__",
    make_problem("import re\nre.fullmatch = len\nreturn ''"): "attributes must not be assigned",
    make_problem("class Thing:\n    pass\nreturn ''"): "a writer needs no classes",
    "class Agent:\n    pass\n\n\n" + FETCH: "class",
    make_problem("global X\nX = 1\nreturn ''"): "return values instead of a global",
    FETCH + "\nreturn 1\n": "syntax error at line",
    make_problem("nonlocal x\nreturn ''"): "syntax error at line 2: no binding for nonlocal 'x' found",
    make_problem("async def wait():\n    pass\nreturn ''"): "line 2: async code cannot run here",
    FETCH + "\n" * 125: "more than 125 lines",
    make_problem(f"return '{'x' * 20_000}'"): "more than 20000 bytes",
    make_problem(f"return {'(' * 300}{')' * 300}"): "too many nested parentheses",
    make_problem(f"return {'-' * 5000}1"): "too deeply nested",
    "\0" + FETCH: "null bytes",
}


@pytest.mark.parametrize("source", GOOD.values(), ids=GOOD.keys())
def test_a_writer_as_models_write_it_may_be_run(source: str) -> None:
    assert fault_of(source) == ""


@pytest.mark.parametrize(("source", "words"), BAD.items(), ids=map(str, range(len(BAD))))
def test_what_must_not_be_run_is_told(source: str, words: str) -> None:
    assert words in fault_of(source)


@given(st.text(max_size=40))
def test_any_text_is_judged(source: str) -> None:
    assert fault_of(source) != ""


@given(st.text(max_size=80), st.text(max_size=20))
def test_the_name_of_a_draft_can_be_that_of_a_folder(name: str, source: str) -> None:
    made = draft(name, source, DOMAIN)
    if made is None:
        assert not source.strip() or not re.search("[A-Za-z]", name.lower())
    else:
        assert re.fullmatch(r"[a-z][a-z0-9_]*", made.name)
        assert len(made.name) <= MAX_NAME
        assert draft(made.name, source, DOMAIN) == made


@pytest.mark.parametrize(
    ("name", "tidy"),
    [
        ("unlock", "unlock"),
        ("Go To-Object", "go_to_object"),
        ("../../etc", "etc"),
        ("2 doors", "w_2_doors"),
        ("con\x1b[2J", "con_2j"),
        ("x" * 99, "x" * 40),
    ],
)
def test_a_name_becomes_an_identifier(name: str, tidy: str) -> None:
    assert draft(name, FETCH, DOMAIN) == ProblemWriter(tidy, DOMAIN, FETCH)


@pytest.mark.parametrize(
    ("name", "source"), [("", FETCH), ("fetch", ""), ("fetch", " \n"), ("...", FETCH), ("12", FETCH)]
)
def test_without_a_name_or_source_there_is_no_draft(name: str, source: str) -> None:
    assert draft(name, source, DOMAIN) is None
