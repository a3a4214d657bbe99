"""What the pages are made of: scripts that make text and never markup, in one scope without twins."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path

import pytest

from explorer.report.document import SCRIPTS, STYLES

PAGE = Path(__file__).resolve().parents[3] / "explorer" / "report" / "page"
OURS = sorted(PAGE.glob("*.js"))
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|createContextualFragment|document\.write|DOMParser|srcdoc|setHTML|\beval\b"
    r"|new\s+Function|\bFunction\(|import\("
)
TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*?|class|const|let|var) (?:(\w+)|\{([\w, ]+)\})", re.MULTILINE)


def test_every_script_and_style_is_used() -> None:
    assert {*SCRIPTS, *STYLES, "page.html.jinja"} == {path.name for path in PAGE.iterdir()}


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.name)
def test_scripts_make_text_and_stay_in_their_element(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert MARKUP.findall(text) == []
    assert "</script" not in text.lower()
    assert "<!--" not in text
    assert max(map(len, text.splitlines())) <= 120
    assert len(text.splitlines()) <= 400


def test_names_in_the_scope_that_they_share_are_unique() -> None:
    found = itertools.chain.from_iterable(
        re.split(r", *", one or many)
        for file in OURS
        for one, many in TOP_LEVEL.findall(file.read_text(encoding="utf-8"))
    )
    assert [name for name, times in Counter(found).items() if times > 1] == []
