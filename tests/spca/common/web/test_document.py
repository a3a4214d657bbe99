"""A page as a file: its policy knows its own script and style alone, and nothing given to it becomes markup."""

from __future__ import annotations

import base64
import hashlib
from html.parser import HTMLParser

import pytest

from spca.common.web.document import PageKind
from spca.common.web.packing import pack
from tests.support.report.pages import KINDS, read_pieces

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


kinds = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


@kinds
def test_the_policy_allows_the_pages_own_script_and_style_and_nothing_else(kind: PageKind) -> None:
    page = kind.render("x")
    parts = Parts(page)
    (policy,) = [a["content"] for tag, a in parts.elements if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == kind.policy()
    assert directives(policy or "") == {
        "default-src": ["'none'"],
        "script-src": [f"'{digest(each)}'" for each in (parts.inside["script"][-1], read_pieces(page)["script"])],
        "style-src": [f"'{digest(parts.inside['style'][-1])}'"],
        "img-src": ["data:"],
        "connect-src": ["'self'" if kind.connects else "'none'"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
    }


@kinds
def test_nothing_on_the_page_names_another_place(kind: PageKind) -> None:
    elements = Parts(kind.render("x")).elements
    links = [a[name] or "" for _, a in elements for name in ("src", "href", "action", "srcset") if a.get(name)]
    assert [link for link in links if not link.startswith("data:image/svg+xml,")] == []
    assert not [a for _, a in elements if "style" in a or any(name.startswith("on") for name in a)]


@kinds
def test_title_and_names_of_pieces_are_text(kind: PageKind) -> None:
    packed = pack({"a": HOSTILE})
    plain = Parts(kind.render("x", {"x": packed}))
    hostile = Parts(kind.render(HOSTILE, {HOSTILE: packed}))
    assert [tag for tag, _ in hostile.elements] == [tag for tag, _ in plain.elements]
    assert [a["data-piece"] for _, a in hostile.elements if "data-piece" in a] == ["script", HOSTILE]
    assert hostile.inside["title"] == [HOSTILE]


@kinds
def test_a_page_that_asks_its_server_says_so(kind: PageKind) -> None:
    body = dict(Parts(kind.render("x")).elements)["body"]
    assert ("data-connects" in body) is kind.connects
