"""Run folders: atomic files, locks, creation and opening."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from spca.common.errors import SettingsError, UserError, WorkspaceBusyError
from spca.common.files import check_folder, lock_folder, make_folder
from spca.contracts import AgentSource, Checkpoint, PlanStep, Status, TrustedPDDL
from spca.errors import ResumeError
from spca.evaluation.ablations.study import RECORD_OF_STUDY
from spca.evaluation.eval_folder import RECORD
from spca.evaluation.learned import read_learned
from spca.report.finding import find, find_one
from spca.runs.recording.folder import RunFolder, attempt_record, existing, new_run_id
from spca.runs.results import Attempt
from tests.support.spca.doubles import AGENT, ROOT, outcome_of, plan_of


def made(runs: Path) -> RunFolder:
    return RunFolder.create(runs, {"settings": {}}, "[]", AGENT, TrustedPDDL("(d)", "(p)"), "# prompts\n")


@pytest.mark.parametrize("below", ["file", "file/a", "file/a/b"])
def test_a_folder_below_a_file_is_refused(tmp_path: Path, below: str) -> None:
    (tmp_path / "file").touch()
    for use in (check_folder, make_folder):
        with pytest.raises(SettingsError, match=re.escape(f"{tmp_path / 'file'} is not a folder")):
            use(tmp_path / below)


def test_checking_a_folder_does_not_make_it(tmp_path: Path) -> None:
    check_folder(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()


def test_a_dangling_link_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    with pytest.raises(SettingsError, match="is not a folder"):
        check_folder(tmp_path / "link")


def test_a_lock_is_held_by_one_at_a_time(tmp_path: Path) -> None:
    with (
        lock_folder(tmp_path, "workspace"),
        pytest.raises(WorkspaceBusyError, match=f"workspace {tmp_path} is in use"),
        lock_folder(tmp_path, "workspace"),
    ):
        pass
    with lock_folder(tmp_path, "workspace"):
        pass


def test_a_lock_dies_with_its_process(tmp_path: Path) -> None:
    code = (
        "import sys, os; from pathlib import Path; from spca.common.files import lock_folder\n"
        "with lock_folder(Path(sys.argv[1]), 'workspace'): print('held', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(WorkspaceBusyError), lock_folder(tmp_path, "workspace"):
            pass
        other.kill()
    with lock_folder(tmp_path, "workspace"):
        pass


def test_a_lock_file_that_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(SettingsError, match="cannot open"), lock_folder(tmp_path, "run"):
        pass


def test_run_ids_sort_by_time_and_differ() -> None:
    ids = {new_run_id() for _ in range(20)}
    assert len(ids) > 1
    assert all(re.fullmatch(r"\d{8}-\d{6}-[0-9a-f]{4}", run_id) for run_id in ids)


def test_a_new_folder_holds_what_later_parts_rely_on(tmp_path: Path) -> None:
    folder = made(tmp_path / "runs")
    opened = RunFolder.open(tmp_path / "runs", folder.run_id)
    assert opened.info() == {"run_id": folder.run_id, "settings": {}}
    assert opened.state() == {
        "levels": 0,
        "agent": "agents/agent_v0.py",
        "category": None,
        "trusted": {"domain": "(d)", "problem": "(p)"},
    }
    assert opened.read_text("agents/agent_v0.py") == AGENT.text
    assert opened.read_text("prompt_log.md") == "# prompts\n"
    assert opened.read_text("state/curriculum.json") == "[]"


@pytest.mark.parametrize("name", ["", "nosuch", "..", "../runs", ".", "a/b"])
def test_what_is_no_run_is_refused_with_the_latest(tmp_path: Path, name: str) -> None:
    with pytest.raises(ResumeError, match="there are none"):
        RunFolder.open(tmp_path / "runs", name)
    folder = made(tmp_path / "runs")
    with pytest.raises(ResumeError, match=f"the latest is {folder.run_id}"):
        RunFolder.open(tmp_path / "runs", name)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (RECORD, "'x' is an evaluation, not a run: use .* report x --runs "),
        (RECORD_OF_STUDY, "'x' is a study of ablations, not a run: use .* ablations --resume x --runs "),
    ],
)
def test_what_is_something_else_than_a_run_is_told(tmp_path: Path, record: str, said: str) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / record).write_text("{}")
    for find_it in (
        lambda: RunFolder.open(tmp_path, "x"),
        lambda: read_learned("x", tmp_path, Path("/"), ROOT),
        lambda: read_learned(str(tmp_path / "x"), Path("/nowhere"), Path("/"), ROOT),
        lambda: find_one("x", tmp_path, Path("/")),
        lambda: find(str(tmp_path / "x"), Path("/nowhere"), Path("/")),
    ):
        with pytest.raises(UserError, match=said):
            find_it()


@pytest.mark.parametrize(
    ("wanted", "there", "said"),
    [
        (RECORD, "run.json", "'x' is a run, not an evaluation: use .* --resume x --runs .*, or .* evaluate --agent x"),
        (RECORD, RECORD_OF_STUDY, "'x' is a study of ablations, not an evaluation: use .* ablations --resume x"),
        (RECORD_OF_STUDY, "run.json", "'x' is a run, not a study of ablations: use"),
        (RECORD_OF_STUDY, RECORD, "'x' is an evaluation, not a study of ablations: use .* report x"),
    ],
)
def test_what_is_something_else_than_what_is_to_go_on_is_told(
    wanted: str, there: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / there).touch()
    with pytest.raises(ResumeError, match=said):
        existing(tmp_path, "x", wanted)


def test_a_run_that_was_killed_while_being_created_is_none(tmp_path: Path) -> None:
    folder = made(tmp_path)
    (folder.path / "run.json").unlink()
    with pytest.raises(ResumeError):
        RunFolder.open(tmp_path, folder.run_id)


def test_versions_of_failed_levels_have_a_prefix(tmp_path: Path) -> None:
    folder = made(tmp_path)
    plan = plan_of(PlanStep("go", ()))
    assert folder.save_version(1, AGENT, plan, solved=True) == "agents/agent_v1.py"
    assert folder.save_version(2, AGENT, plan, solved=False) == "agents/fail_agent_v2.py"
    assert folder.save_version(3, AGENT, None, solved=False) == "agents/fail_agent_v3.py"
    names = {p.name for p in (folder.path / "pddl").iterdir()}
    assert names == {"domain_v1.pddl", "problem_v1.pddl", "fail_domain_v2.pddl", "fail_problem_v2.pddl"}


def test_half_a_surrogate_pair_in_a_message_of_generated_code_can_be_kept(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_json("x.json", {"message": "ValueError: \ud800 é"})
    assert folder.read_json("x.json") == {"message": "ValueError: \ud800 é"}
    assert "é" in (tmp_path / "x.json").read_text(encoding="utf-8")


def test_an_executed_source_is_kept_once(tmp_path: Path) -> None:
    folder = made(tmp_path)
    other = AgentSource(AGENT.text + "# more\n")
    names = {folder.save_agent(source) for source in (AGENT, other, AGENT)}
    assert len(names) == 2
    assert folder.read_text(folder.save_agent(other)) == other.text


def test_an_attempt_as_json() -> None:
    start = Checkpoint((0, 1), "hash")
    outcome = outcome_of(Status.STUCK, "it turns", (2, 0), reward=0.5)
    record = attempt_record(Attempt(2, 3, start, plan_of(PlanStep("act", ("a1",))), AGENT, outcome), "agents/x.py")
    assert record["plan"] == [{"action": "act", "args": ("a1",), "parameters": ()}]
    assert (record["round"], record["attempt"], record["start"]) == (2, 3, [0, 1])
    assert (record["status"], record["message"], record["reward"]) == ("stuck", "it turns", 0.5)
    assert record["steps"] == [[2, 0, 70], [0, 0, 71]]


def named(runs: Path, *names: str, record: str = "run.json") -> None:
    for name in names:
        (runs / name).mkdir(parents=True)
        (runs / name / record).write_text("{}")


def test_a_run_may_be_named_by_the_beginning_of_its_id(tmp_path: Path) -> None:
    named(tmp_path, "20260101-aaaa", "20260101-abbb", "20260102-cccc")
    assert existing(tmp_path, "20260102", "run.json").name == "20260102-cccc"
    assert existing(tmp_path, "20260101-ab", "run.json").name == "20260101-abbb"
    with pytest.raises(ResumeError) as caught:
        existing(tmp_path, "20260101", "run.json")
    assert str(caught.value) == (
        f"2 ids in {tmp_path} begin with 20260101: 20260101-aaaa, 20260101-abbb: give more of the id"
    )


def test_a_whole_id_is_no_beginning_of_a_longer_one(tmp_path: Path) -> None:
    named(tmp_path, "a", "ab")
    assert existing(tmp_path, "a", "run.json").name == "a"


def test_many_runs_that_begin_so_are_not_all_listed(tmp_path: Path) -> None:
    named(tmp_path, *(f"2026-{number}" for number in range(8)))
    with pytest.raises(ResumeError, match=r"^8 ids in .*: 2026-0, .*2026-4 and 3 more: give more"):
        existing(tmp_path, "2026", "run.json")


def test_the_beginning_of_an_id_of_another_kind_says_what_it_is(tmp_path: Path) -> None:
    named(tmp_path, "20260101-aaaa", record="evaluation.json")
    named(tmp_path, "20260102-bbbb")
    with pytest.raises(ResumeError, match="'20260101-aaaa' is an evaluation, not a run: use"):
        existing(tmp_path, "20260101", "run.json")
    assert existing(tmp_path, "2026", "evaluation.json").name == "20260101-aaaa"


@pytest.mark.parametrize("name", ["", "../x", "20260102-cbcc", "a\0b", "n" * 300])
def test_a_name_that_begins_no_id_is_refused(tmp_path: Path, name: str) -> None:
    named(tmp_path / "runs", "20260102-cccc")
    named(tmp_path, "x")
    hint = "did you mean 20260102-cccc" if "cbcc" in name else "the latest is 20260102-cccc"
    with pytest.raises(ResumeError, match=hint):
        existing(tmp_path / "runs", name, "run.json")
