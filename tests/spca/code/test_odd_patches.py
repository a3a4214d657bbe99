"""Answers of a coder that are forgiven or refused for what they hold besides methods."""

from __future__ import annotations

import pytest

from spca.code.merge import objection


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ("PLAN: the key is green", "the key is green"),
        ("\n  PLAN:the key\n  is  green \n", "the key is green"),
        ("```\nPLAN: swap door and key\n```", "swap door and key"),
        ("```text\nPLAN: swap\n```\n", "swap"),
        ("**PLAN:** swap", "swap"),
        ("`PLAN: swap`", "swap"),
        ("PLAN: a\x1b[2Jb\u202e", "a␛[2Jb⟨U+202E⟩"),
        ("PLAN: " + "x" * 999, "x" * 260),
        ("PLAN:", ""),
        ("PLAN: \n", ""),
        ("I would rather not. PLAN: swap", ""),
        ("PLANS: swap", ""),
        ("plan: swap", ""),
        ("PLAN: first this\ndef go(self, a):\n    yield 1", ""),
        ("PLAN: this\n```python\ndef go(self, a):\n    yield 1\n```", ""),
        ("def go(self, a):\n    '''\nPLAN: swap\n'''\n    yield 1", ""),
        ("", ""),
    ],
)
def test_an_answer_that_says_only_what_is_wrong_with_the_plan(answer: str, words: str) -> None:
    assert objection(answer) == words
