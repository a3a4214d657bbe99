"""A run as an example that ships."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from spca.common.errors import UserError
from spca.llm.calls.ledger import sums
from spca.llm.calls.packed import PACKED
from spca.report.example import ABOUT, flags, pack_run
from spca.runs.provenance import run_info
from spca.runs.recording.folder import CURRICULUM
from spca.runs.settings import ABLATIONS
from tests.support.spca.call_requests import Desk
from tests.support.spca.doubles import ROOT, ScriptedProvider
from tests.support.spca.starting import resolve_words

NAME = "20300102-030405-ab12"


def run_folder(
    home: Path, *arguments: str, calls: int = 2, ended: bool = True, levels: str = "", name: str = NAME
) -> Path:
    """What is packed of a run: its calls, settings and summary."""
    folder = home / name
    (folder / "state").mkdir(parents=True)
    (folder / CURRICULUM).write_text(levels or (ROOT / "merged_curriculum2.json").read_text())
    desk = Desk(folder).level()
    for number in range(calls):
        desk.ask(ScriptedProvider("yes"), f"{number}")
    settings = resolve_words(*arguments)
    info = {"run_id": folder.name, **run_info(settings, home, "strict")}
    (folder / "run.json").write_text(json.dumps(info))
    totals = {"levels": 3, "finished": 3, "solved": 2, "usage": sums(desk.desk.ledger.records) | {"categories": {}}}
    if ended:
        (folder / "summary.json").write_text(json.dumps(totals))
    return folder


def test_it_says_what_was_recorded_and_how_to_repeat_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = "lab/m", "--server", "lab=http://127.0.0.1:9/v1", "--seed", "5", "--max-output-tokens", "9"
    run = run_folder(tmp_path, "--planner-model", *model)
    monkeypatch.chdir(tmp_path)
    said = pack_run(run, "examples/first", "a mind")
    assert json.loads((tmp_path / "examples/first" / ABOUT).read_text()) == said
    assert said["flags"] == ["--seed", "5", "--max-output-tokens", "9"]
    assert (said["recorded"], said["answered_by"]) == ("2030-01-02", "a mind")
    assert set(said["models"].values()) == {"lab/m"}
    assert (said["calls"], said["levels"], said["solved"], said["usage"]["answered"]) == ({"planner": 2}, 3, 2, 2)
    assert str(tmp_path) not in json.dumps(said)


def test_flags_make_the_same_settings() -> None:
    chosen = ("--only", "doors", "--only", "A*", "--upstream-rules", "--engine", "tamer", "--keep-agent")
    arguments = (*chosen, *ABLATIONS, "--rename-words", "7")
    before = resolve_words(*arguments)
    again = list(flags(replace(before, seed=8).record()))
    assert resolve_words(*again) == replace(before, seed=8)


def test_a_run_of_the_users_defaults_needs_no_flag() -> None:
    assert not list(flags(resolve_words().record()))


@pytest.mark.parametrize(("more", "why"), [({"calls": 0}, "nothing to pack"), ({"ended": False}, "has not ended")])
def test_what_cannot_be_packed_leaves_no_folder(tmp_path: Path, more: dict[str, int], why: str) -> None:
    run = run_folder(tmp_path, **more)  # type: ignore[arg-type]  # one of its options
    with pytest.raises(UserError, match=why):
        pack_run(run, str(tmp_path / "example"))
    assert not (tmp_path / "example").exists()


def test_packing_again_replaces_the_example(tmp_path: Path) -> None:
    run = run_folder(tmp_path)
    pack_run(run, str(tmp_path / "example"))
    first = (tmp_path / "example" / PACKED).read_bytes()
    pack_run(run, str(tmp_path / "example"))
    assert (tmp_path / "example" / PACKED).read_bytes() == first


def test_what_else_lies_in_the_folder_is_left_alone(tmp_path: Path) -> None:
    pack_run(run_folder(tmp_path / "a"), str(tmp_path / "example"))
    before = {path.name: path.read_bytes() for path in (tmp_path / "example").iterdir()}
    other = run_folder(tmp_path / "b", calls=1, name="20300102-030405-cd34")
    with pytest.raises(UserError, match=r"holds an example of run '20300102-030405-ab12': give one that is new"):
        pack_run(other, str(tmp_path / "example"))
    assert {path.name: path.read_bytes() for path in (tmp_path / "example").iterdir()} == before
    with pytest.raises(UserError, match="is not empty: give one that is new"):
        pack_run(other, str(tmp_path / "a"))
    (tmp_path / "example" / ABOUT).write_text('{"recorded": "2030-01-02"}')  # of an earlier version
    with pytest.raises(UserError, match="holds an example of another run"):
        pack_run(other, str(tmp_path / "example"))


def test_a_curriculum_of_ones_own_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    said = pack_run(run_folder(tmp_path, levels="[]"), "mine")
    assert said["flags"] == ["--curriculum", "mine/curriculum.json"]
    assert (tmp_path / "mine/curriculum.json").read_text() == "[]"
