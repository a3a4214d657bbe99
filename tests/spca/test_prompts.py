"""Prompt templates: strict, and their data blocks cannot be left."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.errors import PromptError
from spca.map_text import as_data
from spca.prompts import quoted, render, templates
from spca.sandbox.allowed import MODULES


def test_every_template_is_listed_with_its_text() -> None:
    assert list(templates()) == [
        "coder_repair",
        "coder_system",
        "coder_task",
        "planner_repair",
        "planner_system",
        "planner_task",
        "reask",
    ]
    assert "<task>" in templates()["coder_task"]


def test_the_coder_is_told_the_modules_that_the_gate_allows() -> None:
    told = re.search(r"Modules: ([^.]*)\.", templates()["coder_system"])
    assert told is not None
    assert re.split(r",\s+", told[1]) == sorted(name for name in MODULES if "." not in name and "_" not in name)


def test_a_missing_variable_is_an_error_that_names_it() -> None:
    with pytest.raises(PromptError, match=r"prompt planner_repair: 'feedback' is undefined"):
        render("planner_repair")


def test_an_unknown_template_is_an_error() -> None:
    with pytest.raises(PromptError, match="nosuch"):
        render("nosuch")


def test_a_template_is_no_path() -> None:
    with pytest.raises(PromptError):
        render("../../agent")


@settings(max_examples=50)
@given(st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text())))
def test_data_is_json_without_a_tag(value: object) -> None:
    text = as_data(value)
    assert json.loads(text) == value
    assert not re.search("[<>]", text)


@given(st.text(), st.integers(100, 400))
def test_quoted_text_is_bounded_and_closes_nothing(text: str, limit: int) -> None:
    shown = quoted(text, limit)
    assert "</" not in shown
    assert all(c.isprintable() or c in "\n\t" for c in shown)
    assert len(shown.replace("<\\/", "</")) <= limit + 60


def test_quoted_text_keeps_its_beginning_and_its_end() -> None:
    shown = quoted("first" + "x" * 9000 + "last")
    assert shown.startswith("firstx")
    assert shown.endswith("xlast")
    assert "[... 5009 characters left out ...]" in shown


def test_terminal_escapes_do_not_reach_a_prompt() -> None:
    assert quoted("a\x1b[31mb\r\n\x00c") == "a[31mb\nc"
