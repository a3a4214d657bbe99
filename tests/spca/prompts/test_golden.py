"""Every prompt, repair and feedback is word for word what ``golden/`` holds."""

from __future__ import annotations

import difflib

import pytest

from tests.spca.prompts.golden import FOLDER, renderings

MADE_BY = "python -m tests.spca.prompts.golden"


@pytest.fixture(scope="module")
def rendered() -> dict[str, str]:
    return {str(path): text + "\n" for path, text in renderings()}


def test_all_texts_are_as_they_were(rendered: dict[str, str]) -> None:
    kept = {str(path.relative_to(FOLDER)): path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.txt")}
    assert rendered.keys() == kept.keys(), f"{MADE_BY} writes them anew"
    for name, text in rendered.items():
        lines = difflib.unified_diff(kept[name].splitlines(), text.splitlines(), f"golden/{name}", "rendered", n=1)
        assert text == kept[name], "\n".join([f"{MADE_BY} writes them anew, if this was meant:", *lines])


def test_every_template_is_rendered(rendered: dict[str, str]) -> None:
    """A part of each that stands in no other."""
    everything = "\n".join(rendered.values())
    for words in (
        "answer with the whole JSON object",
        "if need be",
        "Write all of it again, corrected.",
        "Answer again, in the form asked for",
        "Write the methods named in",
        "What was tried last failed as shown",
        "These plans failed, oldest first",
        "This PDDL solved the last level",
        "its code is then mended",
    ):
        assert words in everything
