"""What the pages are made of: libraries as released, scripts that make text and never markup, readable colours."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from spca.common.web.document import PageKind
from tests.support.report.pages import KINDS

ROOT = Path(__file__).resolve().parents[4]


def folder_of(kind: PageKind) -> Path:
    """Where the files of a kind of page lie."""
    return ROOT.joinpath(*kind.package.split("."), "page")


KIT = ROOT / "spca" / "common" / "web" / "kit"
VENDOR = KIT / "vendor"
OURS = sorted({*KIT.glob("*.js"), *(file for kind in KINDS.values() for file in folder_of(kind).glob("*.js"))})
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|createContextualFragment|document\.write"
    r"|DOMParser|srcdoc|setHTML|\beval\b|new\s+Function|\bFunction\(|import\("
)
KIT_FUNCTION = re.compile(r"^(?:async )?(?:function|class) (\w+)", re.MULTILINE)
TOP_LEVEL = re.compile(r"^(?:async )?(?:function\*?|class|const|let|var) (?:(\w+)|\{([\w, ]+)\})", re.MULTILINE)


def described() -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    return listed


def locked() -> dict[str, dict[str, Any]]:
    packages: dict[str, dict[str, Any]] = json.loads((VENDOR / "package-lock.json").read_text(encoding="utf-8"))
    return {name.removeprefix("node_modules/"): found for name, found in packages["packages"].items() if name}


def test_every_library_is_described_and_unchanged() -> None:
    digests = {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in VENDOR.glob("*.js")}
    assert digests == {entry["file"]: entry["sha256"] for entry in described()}


def test_libraries_are_the_locked_ones_and_carry_their_licences() -> None:
    packages = locked()
    for entry in described():
        source = (VENDOR / entry["file"]).read_text(encoding="utf-8")
        for package in entry["packages"]:
            assert packages[package["name"]]["version"] == package["version"]
            assert packages[package["name"]]["license"] == package["licence"]
            assert package["licence"] in ("MIT", "BSD-3-Clause")
            assert (VENDOR / package["licence_file"]).read_text(encoding="utf-8").strip() in source
    assert set(packages) == {package["name"] for entry in described() for package in entry["packages"]}


def test_lock_names_hashes_and_no_host() -> None:
    assert all(found["integrity"].startswith("sha512-") for found in locked().values())
    assert "://" not in (VENDOR / "package-lock.json").read_text(encoding="utf-8").replace(
        "https://opencollective.com/", ""
    )


@pytest.mark.parametrize("file", [*OURS, *VENDOR.glob("*.js")], ids=lambda file: file.name)
def test_scripts_do_not_end_the_element_that_holds_them(file: Path) -> None:
    text = file.read_text(encoding="utf-8").lower()
    assert "</script" not in text
    assert "<!--" not in text
    assert "sourcemappingurl" not in text


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.name)
def test_our_scripts_make_text_and_never_markup(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert MARKUP.findall(text) == []
    assert not re.search(r"https?://(?!www\.w3\.org/)", text)
    assert [line for line in text.splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_names_in_the_scope_that_scripts_of_a_page_share_are_unique(kind: PageKind) -> None:
    files = [*KIT.glob("*.js"), *(file for file in folder_of(kind).glob("*.js") if file.name not in kind.leaves_out)]
    found = itertools.chain.from_iterable(
        re.split(r", *", one or many)
        for file in files
        for one, many in TOP_LEVEL.findall(file.read_text(encoding="utf-8"))
    )
    assert [name for name, times in Counter(found).items() if times > 1] == []


def read_code(file: Path) -> str:
    """Return a script without comments and strings."""
    return re.sub(r'/\*.*?\*/|//[^\n]*|"[^"\n]*"', "", file.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_each_function_of_the_kit_is_used_by_at_least_two_pages() -> None:
    """A page uses what its own scripts name, and what that names in turn."""
    sources = "".join(map(read_code, sorted(KIT.glob("*.js"))))
    starts = [(match[1], match.start()) for match in KIT_FUNCTION.finditer(sources)]
    ends = [*(start for _, start in starts[1:]), len(sources)]
    bodies = {name: sources[start:end] for (name, start), end in zip(starts, ends, strict=True)}
    uses: Counter[str] = Counter()
    for folder in {folder_of(kind) for kind in KINDS.values()}:
        texts = ["".join(map(read_code, folder.glob("*.js")))]
        used: set[str] = set()
        while texts:
            words = set(re.findall(r"\w+", texts.pop()))
            new = (words & bodies.keys()) - used
            used |= new
            texts += [bodies[name] for name in new]
        uses.update(used)
    assert sorted(name for name in bodies if uses[name] < 2) == []


def test_every_file_of_a_page_is_left_out_by_at_most_one_kind() -> None:
    for kinds in itertools.groupby(KINDS.values(), folder_of):
        names = [set(kind.leaves_out) for kind in kinds[1]]
        assert set.intersection(*names) == set()


def colours(theme: str) -> dict[str, str]:
    text = (KIT / "kit.css").read_text(encoding="utf-8")
    block = re.search(rf'\[data-theme="{theme}"\] \{{(.*?)\}}', text, re.DOTALL)
    assert block is not None
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{3,6});", block[1]))


def luminance(colour: str) -> float:
    """Relative luminance as WCAG 2.2 defines it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_text_is_readable_on_every_ground(theme: str) -> None:
    found = colours(theme)
    pairs = [
        *itertools.product(("text", "muted", "accent", "good", "bad", "warn"), ("bg", "surface", "surface-2")),
        *itertools.product(("plan", "code", "act"), ("surface", "surface-2")),
        *((name, f"{name}-soft") for name in ("good", "bad", "warn")),
        *itertools.product(("text", "accent"), ("good-soft", "bad-soft", "warn-soft")),
        ("on-accent", "accent"),
    ]
    edges = {ground: contrast(found["edge"], found[ground]) for ground in ("surface", "bg")}
    assert min(edges.values()) >= 3, edges
    weak = {pair: round(contrast(found[pair[0]], found[pair[1]]), 2) for pair in pairs}
    assert {pair: ratio for pair, ratio in weak.items() if ratio < 4.5} == {}


def test_both_themes_have_the_same_colours() -> None:
    assert colours("light").keys() == colours("dark").keys()
