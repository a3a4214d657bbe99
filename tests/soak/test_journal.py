"""What long gates keep of their work when they are interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.soak.journal import Journal, Key

FIRST, SECOND, THIRD = ("walks", 1, 0), ("walks", 1, 10), ("files", 1, 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Of a journal with two items."""
    path = tmp_path / "journal" / "journal.jsonl"
    journal = Journal(path, "code")
    journal.add(FIRST, {"count": 1, "wrong": ["ä"]})
    journal.add(SECOND, {"count": 2, "wrong": []})
    return path


def kept(path: Path) -> list[Key]:
    return list(Journal(path, "code").found)


def test_it_goes_on(path: Path) -> None:
    assert Journal(path, "code").found == {FIRST: {"count": 1, "wrong": ["ä"]}, SECOND: {"count": 2, "wrong": []}}


def test_a_writer_killed_anywhere_costs_only_its_last_line(path: Path) -> None:
    whole = path.read_bytes()
    ends = [end for end, byte in enumerate(whole, 1) if byte == ord("\n")]
    for size in range(len(whole) + 1):
        path.write_bytes(whole[:size])
        lines = sum(end <= size for end in ends)
        expected = [FIRST, SECOND][: max(0, lines - 1)]
        journal = Journal(path, "code")
        assert list(journal.found) == expected
        journal.add(THIRD, {"count": 3})
        assert kept(path) == [*expected, THIRD]


def test_figures_of_other_code_are_dropped(path: Path) -> None:
    assert not Journal(path, "other code").found
    assert not path.exists()


def test_afresh(path: Path) -> None:
    assert not Journal(path, "code", afresh=True).found
    assert not kept(path)


def test_complete_work_is_forgotten_and_other_work_is_not(path: Path) -> None:
    Journal(path, "code").forget([FIRST])
    assert kept(path) == [SECOND]
    Journal(path, "code").forget([SECOND])
    assert not list(path.parent.iterdir())


def test_a_journal_that_another_process_has_removed_is_written_again(path: Path) -> None:
    journal = Journal(path, "code")
    path.unlink()
    journal.add(THIRD, {})
    assert kept(path) == [FIRST, SECOND, THIRD]
