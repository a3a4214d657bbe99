"""Failures of one kind are shown once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from spca.evaluation.episodes import Episode, Played, Trial
from spca.evaluation.failure_groups import group_failures, replay
from spca.evaluation.figures import show
from spca.evaluation.summary import Results
from tests.support.report.evaluated import evaluated


def lost(env_id: str, seed: int, status: str, reason: str) -> Played:
    return Played(Episode(0, env_id, seed, "a", "s", "l"), (Trial("w/v001", status, reason),))


LACKING = [
    lost(env_id, seed, "missing_method", "the library lacks fly") for env_id in ("A-v0", "B-v0") for seed in range(9)
]
FAILED = [
    lost("C-v0", 1, "stuck", "the red door at (3, 4) is shut"),
    *LACKING,
    lost("B-v0", 9, "missing_method", "the library lacks fly"),
    lost("C-v0", 2, "stuck", "the blue door at (5, 6) is shut"),
    lost("C-v0", 3, "no_plan", "w/v002: no key\nv/v001: another world"),
]


def test_the_largest_group_comes_first_and_its_most_frequent_id() -> None:
    groups = group_failures(Results(tuple(FAILED)).failed)
    assert [(len(group.failures), group.title) for group in groups] == [
        (19, "missing_method: the library lacks fly"),
        (2, "stuck: the red door at (3, 4) is shut"),
        (1, "no_plan: w/v002: no key"),
    ]
    assert [(env_id, len(failures)) for env_id, failures in groups[0].ids.items()] == [("B-v0", 10), ("A-v0", 9)]


def test_the_terminal_names_each_kind_once_with_an_example(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = evaluated(tmp_path)
    show(Results(tuple(FAILED)), folder)
    out = capsys.readouterr().out
    assert out.count("the library lacks fly") == 1
    assert "19 episodes  missing_method: the library lacks fly" in out
    assert "2 ids: B-v0 (10), A-v0 (9)" in out
    for name in ("A-v0:0", "C-v0:1", "C-v0:3"):
        assert f"python main.py replay {folder.id} {name} --runs {tmp_path}\n" in out
    assert "A-v0:1" not in out


def test_a_replay_is_of_the_attempt_that_failed_and_of_the_folder_it_lies_in(tmp_path: Path) -> None:
    """Pasted as it is, from wherever one stands."""
    folder = evaluated(tmp_path / "my runs")
    first = lost("A-v0", 3, "stuck", "")
    (failure,) = Results((replace(first, trials=(*first.trials, Trial("m", "success"))),)).failed
    where = f"--runs '{tmp_path}/my runs'"
    command = f"python main.py replay {folder.id} A-v0:3 --attempt 1.1"
    assert replay(failure, folder.path) == f"{command} {where}"
    assert replay(failure, folder.path, "") == command
