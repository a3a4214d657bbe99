"""A pytest plugin: tests that run without coverage, because tracing more than doubles their time.

``scripts/test`` loads it beside ``--cov``. What these tests reach is measured by the plain tests of the same units;
lines that only they reach count as missed. The processes that they start are not traced either.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test

TESTS = Path(__file__).parents[1]
WHOLE_RUNS_AND_WORLDS = (
    "browser",
    "e2e",
    "spca/reference/test_skills.py",
    "spca/sandbox/test_benign.py",
    "spca/sandbox/test_redteam.py",
    "spca/act/test_corrections.py",
    "spca/prompts/test_prompt_lint.py",
    "spca/act/test_state_hash.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark them as ``pytest-cov`` wants it: every property, and what the list names."""
    untraced = [TESTS / name for name in WHOLE_RUNS_AND_WORLDS]
    for item in items:
        is_property = isinstance(item, pytest.Function) and is_hypothesis_test(item.obj)
        if is_property or any(item.path.is_relative_to(path) for path in untraced):
            item.add_marker("no_cover")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Hide from child processes that coverage is measured."""
    if item.get_closest_marker("no_cover") is None:
        return (yield)
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith("COVERAGE"):
                patch.delenv(name)
        return (yield)
