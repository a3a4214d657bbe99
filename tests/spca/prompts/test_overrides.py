"""Templates of the user: checked at the start, and without access to Python."""

from __future__ import annotations

import re
from pathlib import Path

import jinja2
import pytest

from spca.common.errors import SettingsError
from spca.prompts import USUAL, Wording, list_known_texts
from spca.prompts.overrides import FILTERS, TemplateFolder, list_variables
from spca.sense.renaming import Renaming
from tests.support.spca.doubles import ROOT

PAGE = (ROOT / "docs" / "prompts.md").read_text(encoding="utf-8")


def read_overrides(folder: Path, **texts: str) -> TemplateFolder:
    for name, text in texts.items():
        (folder / f"{name}.jinja").write_text(text, encoding="utf-8")
    return TemplateFolder.read(str(folder))


def test_a_template_of_the_user_replaces_ours(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("{{ nothing }}", encoding="utf-8")
    overrides = read_overrides(tmp_path, planner_repair="Once more: {{ feedback }}\n", coder_system="A key, a red one.")
    wording = Wording(overrides=overrides)
    wording.check()
    assert wording.render("planner_repair", feedback="no goal", compiles=False) == "Once more: no goal"
    assert wording.templates() == USUAL.templates() | {
        "planner_repair": "Once more: {{ feedback }}\n",
        "coder_system": "A key, a red one.",
    }
    assert "Once more" in wording.describe_templates()
    renamed = Wording(renaming=Renaming(3), overrides=overrides).render("coder_system")
    assert renamed == Renaming(3).text("A key, a red one.")


def test_other_templates_stay_ours(tmp_path: Path) -> None:
    wording = Wording(overrides=read_overrides(tmp_path, coder_system="mine"))
    values = {"feedback": "no goal", "compiles": True}
    assert wording.render("planner_repair", **values) == USUAL.render("planner_repair", **values)


def test_our_own_templates_pass_their_own_check(tmp_path: Path) -> None:
    texts = {name: text for name, text in list_known_texts().items() if name != "reask"}
    wording = Wording(overrides=read_overrides(tmp_path, **texts))
    wording.check()
    assert wording.templates() == USUAL.templates()
    system = {"reserved": "drop", "compiles": True}
    assert wording.render("planner_system", **system) == USUAL.render("planner_system", **system)


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    first = read_overrides(tmp_path, coder_system="first")
    assert read_overrides(tmp_path, coder_system="the second") != first


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("planer_task", "x", "planer_task.jinja: no run has such a template; did you mean planner_task.jinja?"),
        ("reask", "x", "reask.jinja: no run has such a template; there are "),
        ("planner_task", "x\n{% if %}", "planner_task.jinja, line 2: Expected an expression"),
        ("planner_task", "{{ level | nothing }}", "planner_task.jinja, line 1: No filter named 'nothing'"),
        ("planner_task", "{{ task }}", "planner_task.jinja: the variable task is unknown; this template has actions, "),
        ("coder_system", "{{ task }}", "coder_system.jinja: the variable task is unknown; this template has body"),
        ("coder_task", '{% include "nothing.jinja" %}', "coder_task.jinja: it includes nothing, which does not exist"),
    ],
)
def test_a_bad_template_is_one_line_at_the_start(tmp_path: Path, name: str, text: str, words: str) -> None:
    overrides = read_overrides(tmp_path, **{name: text})
    with pytest.raises(SettingsError, match=re.escape(words)) as caught:
        Wording(overrides=overrides).check()
    assert str(caught.value).startswith(f"--prompts {tmp_path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("folder", ["nothing", "."])
def test_a_folder_without_templates_is_refused(tmp_path: Path, folder: str) -> None:
    with pytest.raises(SettingsError, match="there is no such folder with templates"):
        TemplateFolder.read(str(tmp_path / folder))


@pytest.mark.parametrize("text", ["{{ feedback.__class__.__mro__ }}", "{{ ().__class__.__base__.__subclasses__() }}"])
def test_a_template_gets_no_access_to_python(tmp_path: Path, text: str) -> None:
    wording = Wording(overrides=read_overrides(tmp_path, planner_repair=text))
    wording.check()
    with pytest.raises(SettingsError, match=r"planner_repair\.jinja: access to attribute '__class__'"):
        wording.render("planner_repair", feedback="x", compiles=False)


def test_the_page_names_the_variables_of_each_template() -> None:
    rows = re.findall(r"^\| `(\w+)` \| [^|]+ \| (.*) \|$", PAGE, re.MULTILINE)
    known = list_known_texts()
    told = {name: frozenset(re.findall(r"`(\w+)`", variables)) for name, variables in rows}
    assert told == {name: list_variables(name, known) for name in known if name != "reask"}
    described = re.findall(r"^\| `(\w+)` \| [^|]+ \|$", PAGE, re.MULTILINE)
    assert {*described} == frozenset().union(*told.values())
    assert described == sorted(described)


def test_the_page_names_the_filters() -> None:
    last = PAGE.rpartition("The filters are ")[2]
    assert tuple(re.findall(r"`(\w+)`", last)) == FILTERS
    assert not {*FILTERS} & jinja2.Environment().filters.keys()  # noqa: S701 - nothing is rendered
