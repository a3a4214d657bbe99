"""The page as a file: its policy knows its own script and style alone, and nothing given to it becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from importlib import resources

import pytest

from spca.report.page import html_file, packing

FORBIDDEN = (
    "innerHTML",
    "outerHTML",
    "insertAdjacentHTML",
    "document.write",
    "dangerouslySetInnerHTML",
    "eval(",
    "new Function",
    'setTimeout("',
)
HOSTILE = "</title></script><script>alert(1)</script>\" onload='x"


class Parts(HTMLParser):
    """Elements with their attributes, and the text of scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, list[str]] = {"script": [], "style": [], "title": []}
        self._open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open = tag
        if tag in self.inside:
            self.inside[tag].append("")

    def handle_endtag(self, _tag: str, /) -> None:
        self._open = ""

    def handle_data(self, data: str) -> None:
        if self._open in self.inside:
            self.inside[self._open][-1] += data


def digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def directives(policy: str) -> dict[str, list[str]]:
    return {name: sources for name, *sources in (part.split() for part in policy.split(";"))}


@pytest.mark.parametrize("live", [False, True])
def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(live: bool) -> None:
    text = html_file.live("x") if live else html_file.static("x", {})
    parts = Parts(text)
    (policy,) = [a["content"] for tag, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == html_file.policy(live=live)
    assert directives(policy or "") == {
        "default-src": ["'none'"],
        "script-src": [f"'{digest(parts.inside['script'][-1])}'"],
        "style-src": [f"'{digest(parts.inside['style'][-1])}'"],
        "img-src": ["data:"],
        "connect-src": ["'self'" if live else "'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }


def test_nothing_on_the_page_names_another_place() -> None:
    elements = Parts(html_file.static("x", {})).elements
    links = [a[name] for _, a in elements for name in ("src", "href", "action", "srcset") if a.get(name)]
    assert links == ["data:,"]
    assert not [a for _, a in elements if "style" in a or any(name.startswith("on") for name in a)]


def test_title_and_names_of_pieces_are_text() -> None:
    piece = packing.piece({"a": HOSTILE})
    plain, hostile = Parts(html_file.static("x", {"x": piece})), Parts(html_file.static(HOSTILE, {HOSTILE: piece}))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [a["data-piece"] for _, a in hostile.elements if "data-piece" in a] == [HOSTILE]
    assert hostile.inside["title"] == [HOSTILE]


def test_a_live_page_is_told_apart() -> None:
    live, static = (dict(Parts(text).elements)["body"] for text in (html_file.live("x"), html_file.static("x", {})))
    assert "data-live" in live
    assert "data-live" not in static


@pytest.mark.parametrize("name", [*html_file.SCRIPTS, *html_file.STYLES])
def test_our_scripts_never_make_markup_or_code_of_text(name: str) -> None:
    text = resources.files("spca.report").joinpath("page", name).read_text(encoding="utf-8")
    assert [word for word in FORBIDDEN if word in text] == []
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert "</script" not in text.lower()
    assert "</style" not in text.lower()


def test_every_file_of_the_page_is_in_it() -> None:
    folder = resources.files("spca.report").joinpath("page")
    there = {each.name for each in folder.iterdir() if each.is_file() and not each.name.endswith(".py")}
    assert there == {*html_file.SCRIPTS, *html_file.STYLES, "page.html.jinja"}
