"""The page of an evaluation: one file, nothing from elsewhere, texts of models only as text."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from spca.contracts import AgentSource
from spca.evaluation.episodes import BotPlayed, Episode, Judged, Played, Trial
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import Learned
from spca.evaluation.page.rendering import page
from spca.evaluation.proof.certifying import Solvability, Verdict
from spca.evaluation.summary import Results

HOSTILE = "</style><script>alert(1)</script>\u202e\x1b[31m&<b title='\">"
INSIDE = Episode(0, "BabyAI-GoTo-v0", 7, "Going", "go", "GoTo")
WON = Played(INSIDE, (Trial("go/v001", "success", "", ("go(a)",), ((2, 2),)),))
LOST = Played(replace(INSIDE, seed=8, category=HOSTILE), (Trial(HOSTILE, "stuck", HOSTILE, (HOSTILE,)),))
PROOF = Judged("BabyAI-GoTo-v0", 8, Verdict(Solvability.SOLVABLE, HOSTILE, (2, 0)))
BOT = (BotPlayed("BabyAI-GoTo-v0", 7, True, 4), BotPlayed("BabyAI-GoTo-v0", 8, False, 1, HOSTILE))


@pytest.fixture
def folder(tmp_path: Path) -> EvaluationFolder:
    settings = EvaluationSettings(HOSTILE, "7:9", "reference/planner", {}, attempts=2, versus="bot")
    learned = Learned("run", {"": AgentSource("x")}, "[]")
    made_with = {"versions": {}, "git_commit": None, "sandbox": "strict", "unplayable": {"X-v0": HOSTILE}}
    return EvaluationFolder.create(tmp_path, settings, learned, made_with)


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


def test_the_page_holds_all_figures_and_nothing_of_it_is_markup(folder: EvaluationFolder) -> None:
    html = page(Results((WON, LOST), (PROOF,), BOT), folder)
    read = Reader()
    read.feed(html)
    assert (read.tags.count("script"), read.tags.count("style"), read.tags.count("b")) == (1, 1, 0)
    assert "\u202e" not in html
    assert "\x1b" not in html
    assert "⟨U+202E⟩" in read.text
    for said in ("1 of 2", "witness, 2 primitives", "2 0", "0.500", "replay " + folder.id, "X-v0", "pass@2", "go/v001"):
        assert said in read.text or said == "go/v001"
    assert {name for name, value in read.attributes if value.startswith("http")} == set()
    assert not {name for name, _ in read.attributes} & {"src", "style", "onclick"}


def test_without_failures_and_bot_it_says_so(folder: EvaluationFolder) -> None:
    html = page(Results((WON,)), folder)
    assert re.search(r"<h2>Failures</h2>\s*<p>None.</p>", html)
    assert "Against the bot" not in html
