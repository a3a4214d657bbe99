"""What the documentation names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.redteam.given import GIVEN
from tests.redteam.own import OWN

ROOT = Path(__file__).resolve().parents[1]
SANDBOX = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
COVERED = SANDBOX.partition("## Covered")[2].partition("## Not covered")[0]


def names_of_tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    classes = {
        f"{node.name}::{test.name}"
        for node in tree.body
        if isinstance(node, ast.ClassDef)
        for base in (node, *(b for b in suites() if b.name in {ast.unparse(name) for name in node.bases}))
        for test in base.body
        if isinstance(test, ast.FunctionDef)
    }
    return classes | {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def suites() -> list[ast.ClassDef]:
    folders = (ROOT / "tests" / "support" / "contracts", ROOT / "spca" / "testing")
    texts = [path.read_text(encoding="utf-8") for folder in folders for path in folder.glob("*_suite.py")]
    return [node for text in texts for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]


def test_every_covered_line_names_tests_that_exist() -> None:
    attacks = {attack.name for attack in (*GIVEN, *OWN)}
    lines = [line for line in COVERED.splitlines() if line.startswith("|") and not line.startswith(("|---", "| what "))]
    assert len(lines) >= 20
    for line in lines:
        named = re.findall(r"`(tests/[\w/]+\.py)::([\w:]+)`", line)
        shown = re.findall(r"W\[(\w+)\]", line)
        assert named or shown, line
        assert {name for path, name in named if name not in names_of_tests(path)} == set()
        assert {name for name in shown if name not in attacks} == set()
    assert "test_the_wall_holds" in names_of_tests("tests/spca/sandbox/test_redteam.py")
