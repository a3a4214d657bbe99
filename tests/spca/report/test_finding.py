"""Which runs a name means, and what is said of one that means none."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.errors import ReportError
from spca.report.finding import find, find_one


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    for name in ("20260101-000000-aaaa", "20260102-000000-bbbb"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text("{}", encoding="utf-8")
    (tmp_path / "runs" / "llm_cache").mkdir()
    (tmp_path / "runs" / "notes.txt").touch()
    return tmp_path / "runs"


def test_a_run_is_found_by_its_id_by_its_path_or_as_the_latest(runs: Path, tmp_path: Path) -> None:
    first, second = runs / "20260101-000000-aaaa", runs / "20260102-000000-bbbb"
    assert find(first.name, runs, tmp_path) == [first]
    assert find(f"runs/{first.name}", Path("/nowhere"), tmp_path) == [first]
    assert find(str(first), Path("/nowhere"), Path("/")) == [first]
    assert find(".", Path("/nowhere"), first) == [first]
    assert find(None, runs, tmp_path) == [second]


def test_a_folder_of_runs_means_all_of_them(runs: Path) -> None:
    assert [path.name[-4:] for path in find("runs", Path("/nowhere"), runs.parent)] == ["aaaa", "bbbb"]


def test_the_beginning_of_an_id_is_enough_where_only_one_begins_so(runs: Path, tmp_path: Path) -> None:
    assert find("20260101", runs, tmp_path) == [runs / "20260101-000000-aaaa"]
    with pytest.raises(ReportError, match=r"2 runs in .* begin with 202601, such as 20260102-000000-bbbb: give more"):
        find("202601", runs, tmp_path)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("20270103", "no run '20270103' in .*: the latest is 20260102-000000-bbbb"),
        ("20260102-000000-bbbx", "did you mean 20260102-000000-bbbb?"),
        ("", "no run ''"),
        ("runs/llm_cache", "llm_cache holds no run"),
        ("runs/notes.txt", "there is no folder .*notes.txt"),
        ("no/such/folder", "there is no folder .*no/such/folder"),
        ("published", "report --compare RUN published"),
        ("a\0b", "the latest is"),
        ("x" * 5000, "the latest is"),
        ("\x1b[31m", "the latest is"),
    ],
)
def test_a_name_that_means_nothing_is_answered_with_what_could_be_meant(
    runs: Path, tmp_path: Path, name: str, words: str
) -> None:
    with pytest.raises(ReportError, match=words) as caught:
        find(name, runs, tmp_path)
    assert str(caught.value).isprintable()


def test_where_one_run_is_wanted_a_folder_of_several_is_refused(runs: Path, tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="runs holds 2 runs: name one of them, such as 20260102-000000-bbbb"):
        find_one("runs", runs, tmp_path)


def test_without_any_runs_there_is_no_latest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPCA_PROGRAM", "sh scripts/run")
    with pytest.raises(ReportError, match=r"there are no runs in .*: begin one with sh scripts/run run"):
        find(None, tmp_path, tmp_path)
    with pytest.raises(ReportError, match="there are none"):
        find("x", tmp_path, tmp_path)
