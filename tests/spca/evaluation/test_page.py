"""The page of an evaluation: one file, nothing from elsewhere, texts of models only as text."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from spca.evaluation.page.rendering import page
from spca.evaluation.summary import Results
from tests.support.report.evaluated import RESULTS, WON, evaluated


class Reader(HTMLParser):
    """Collects tags, attributes and text outside of scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags, self.attributes, self.text = list[str](), list[tuple[str, str]](), ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_holds_all_figures_and_nothing_of_it_is_markup(tmp_path: Path) -> None:
    folder = evaluated(tmp_path)
    html = page(RESULTS, folder)
    read = Reader()
    read.feed(html)
    assert (read.tags.count("script"), read.tags.count("style"), read.tags.count("b")) == (1, 1, 0)
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "⟨U+202E⟩" in read.text
    for said in ("1 of 2", "witness, 2 primitives", "2 0", "0.500", "replay " + folder.id, "X-v0", "pass@2", "writers"):
        assert said in read.text
    assert {name for name, value in read.attributes if value.startswith("http")} == set()
    assert not {name for name, _ in read.attributes} & {"src", "style", "onclick"}


def test_without_failures_and_bot_it_says_so(tmp_path: Path) -> None:
    html = page(Results((WON,)), evaluated(tmp_path))
    assert re.search(r"<h2>Failures</h2>\s*<p>None.</p>", html)
    assert "Against the bot" not in html
