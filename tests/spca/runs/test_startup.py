"""From settings to a locked run folder."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from llmclient import ChatGPTClient
from spca.commands.doctor import examine
from spca.common.errors import BudgetReached, SettingsError, UserError, WorkspaceBusyError
from spca.common.files import lock_folder
from spca.errors import ProviderDownError, ResumeError, UnknownModelError
from spca.llm.calls.desk import CallDesk
from spca.llm.providers.base import Message, RequestOptions
from spca.runs.curriculum import select_tasks
from spca.runs.options import UNSAFE_VARIABLE, RunOptions
from spca.runs.recording.folder import LOCK
from spca.runs.resolution import find_run
from spca.runs.run import make_desk
from spca.runs.screen.lines import describe_run
from spca.runs.startup import Prepared, prepare_run
from tests.fakes.faults import FaultServer
from tests.fakes.openai_wire import CHAT
from tests.support.commands import curriculum, fingerprint
from tests.support.report.finished_files import write_finished
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT, ScriptedProvider
from tests.support.spca.starting import read_options, write_words


def desk_of(run: Prepared) -> CallDesk:
    return make_desk(run.settings, run.models, run.caps, run.folder, run.asked_anew)


def greeting_of(run: Prepared) -> str:
    return describe_run(run, os.environ)


@pytest.fixture
def given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Settings of a run without a sandbox: to try one takes longer than all the rest of a start."""
    monkeypatch.setenv(UNSAFE_VARIABLE, "1")
    chosen = curriculum(tmp_path / "c.json", a=["x-v0", "y-v0"], b=["z-v0"])
    folders = {"runs": str(tmp_path / "runs"), "workspace": str(tmp_path / "workspace")}
    return {"curriculum": str(chosen), "unsafe_no_sandbox": True, **folders}


def no_check(_ids: Iterable[str]) -> None:
    """Every environment exists."""


def read(given: dict[str, Any]) -> RunOptions:
    return read_options(*write_words(**given))


@contextmanager
def started(given: dict[str, Any], check: Callable[[Iterable[str]], None] = no_check) -> Iterator[Prepared]:
    settings, begun = find_run(read(given))
    with prepare_run(settings, select_tasks(settings, begun), check, begun) as run:
        yield run


@pytest.mark.long
def test_a_new_run_holds_its_locks(given: dict[str, Any]) -> None:
    with started(given | {"unsafe_no_sandbox": False}) as run:
        folder = run.folder
        assert [task.env_id for task in run.tasks] == ["x-v0", "y-v0", "z-v0"]
        assert folder.read_text("agents/agent_v0.py") == AGENT.text
        assert "## planner_system" in folder.read_text("prompt_log.md")
        assert folder.info()["settings"]["only"] is None
        for path, name in ((Path(given["workspace"]), ".lock"), (folder.path, LOCK)):
            with pytest.raises(WorkspaceBusyError), lock_folder(path, "it", name):
                pass
    with lock_folder(Path(given["workspace"]), "workspace"):
        pass


@pytest.mark.long
def test_a_run_is_resumed_with_the_curriculum_it_began_with(given: dict[str, Any]) -> None:
    with started(given | {"only": "a"}) as run:
        pass
    Path(given["curriculum"]).unlink()
    again = {"resume": run.folder.run_id[:-1], "runs": given["runs"]}  # the beginning of an id will do
    with started(again) as resumed:
        assert resumed.folder.path == run.folder.path
        assert [task.env_id for task in resumed.tasks] == ["x-v0", "y-v0"]


def test_what_a_killed_write_has_left_is_cleared_when_a_run_goes_on(given: dict[str, Any]) -> None:
    with started(given) as run:
        pass
    torn = [run.folder.path / name / ".0123456789abcdef.tmp" for name in ("", "state", "agents", "trajectories", "llm")]
    torn.append(run.workspace.path / torn[0].name)
    for path in torn:
        path.parent.mkdir(exist_ok=True)
        path.write_text("half")
    with started({"resume": run.folder.run_id, "runs": given["runs"]}):
        assert [path for path in torn if path.exists()] == []


def test_what_a_flag_changes_in_a_resumed_run_holds_the_next_time(given: dict[str, Any]) -> None:
    with started(given | {"max_calls": 3}) as run:
        pass
    again = {"resume": run.folder.run_id, "runs": given["runs"]}
    folder = run.folder
    before = folder.info()
    with started(again):
        assert folder.info() == before
    with started(again | {"max_calls": 9, "max_output_tokens": 7, "quiet": True, "cache": True}):
        changed = before["settings"] | {"max_calls": 9, "max_output_tokens": 7}
        assert folder.info() == before | {"settings": changed}
    assert find_run(read(again))[0].models.caps.calls == 9


@pytest.mark.long
def test_the_cache_knows_the_server(given: dict[str, Any]) -> None:
    def ask(url: str, *answers: str) -> str:
        told = {"cache": True, "max_calls": 2, "base_url": url, "preflight": False}
        with started(given | told) as run:
            client = ChatGPTClient[str](ref("openai/m"), provider=ScriptedProvider(*answers), desk=desk_of(run))
            return client.chat_completion([Message("user", "a")])

    assert ask("http://one/v1", "one") == "one"
    assert ask("http://two/v1", "two") == "two"
    assert ask("http://one/v1") == "one"


@pytest.mark.long
def test_a_run_cannot_be_resumed_twice_at_once(given: dict[str, Any]) -> None:
    with started(given) as run:
        again = started({"resume": run.folder.run_id, "runs": given["runs"]})
        with pytest.raises(WorkspaceBusyError):
            again.__enter__()


def test_a_run_with_more_finished_levels_than_it_has_is_refused(given: dict[str, Any]) -> None:
    with started(given) as run:
        write_finished(run.folder.path, [{}] * 4)
    with pytest.raises(ResumeError, match="more levels are finished"), started({"resume": run.folder.run_id, **given}):
        pass


def test_the_check_sees_the_levels_and_comes_before_anything_is_written(given: dict[str, Any], tmp_path: Path) -> None:
    def check(ids: Iterable[str]) -> None:
        raise UserError(" ".join(ids))

    before = fingerprint(tmp_path)
    with pytest.raises(UserError, match=r"^x-v0 y-v0 z-v0$"), started(given, check):
        pass
    assert fingerprint(tmp_path) == before


@pytest.mark.long
def test_nothing_of_an_old_workspace_is_lost_when_a_run_cannot_begin(given: dict[str, Any], tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    for name in ("agent.py", "domain.pddl", "problem.pddl"):
        (workspace / name).write_text(f"my {name}")
    before = fingerprint(tmp_path)
    with lock_folder(workspace, "workspace"), suppress(WorkspaceBusyError), started(given):
        pytest.fail("it began although another run holds the workspace")
    (workspace / ".lock").unlink()
    with pytest.raises(SettingsError), started(given | {"runs": str(tmp_path / "c.json")}):
        pass
    with pytest.raises(SettingsError), started(given | {"keep_agent": True}):
        pass
    assert fingerprint(tmp_path) == before


@pytest.mark.long
def test_kept_files_are_what_the_run_begins_with(given: dict[str, Any], tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text(AGENT.text + "# mine\n")
    (workspace / "domain.pddl").write_text("(define (domain d))")
    (workspace / "problem.pddl").write_text("(define (problem p))")
    with started(given | {"keep_agent": True, "keep_pddl": True}) as run:
        assert run.folder.read_text("agents/agent_v0.py") == AGENT.text + "# mine\n"
        assert run.folder.state()["trusted"] == {"domain": "(define (domain d))", "problem": "(define (problem p))"}


UNPRICED = dict.fromkeys(("planner_model", "planner_small_model", "coder_model"), "openai/new")


@pytest.mark.long
def test_a_cost_that_cannot_be_capped_is_refused_before_anything_is_written(
    given: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    before = fingerprint(tmp_path)
    with (
        pytest.raises(SettingsError, match=r"the price of openai/new is unknown.* --max-calls N"),
        started(given | UNPRICED),
    ):
        pytest.fail("it began")
    assert fingerprint(tmp_path) == before
    with started(given | UNPRICED | {"max_calls": 3, "preflight": False}) as run:
        assert run.folder.info()["settings"]["max_calls"] == 3


@pytest.fixture
def provider() -> Iterator[FaultServer]:
    with FaultServer(CHAT) as server:
        server.models = ("gpt-6.1-sol", "gpt-6.1-terra", "o3")
        yield server


@pytest.mark.long
def test_a_dead_model_is_refused_before_anything_is_paid_or_written(
    given: dict[str, Any], provider: FaultServer, tmp_path: Path
) -> None:
    before = fingerprint(tmp_path)
    served = given | {"base_url": provider.base_url, "planner_small_model": "openai/o4-mini"}
    with pytest.raises(UnknownModelError) as caught, started(served):
        pytest.fail("it began")
    assert str(caught.value) == (
        "openai/o4-mini was shut down on 2026-10-23: use openai/gpt-6.1-terra (--no-preflight starts all the same)"
    )
    assert fingerprint(tmp_path) == before
    assert [asked.method for asked in provider.asked] == ["GET"]
    with started(served | {"preflight": False}):
        assert len(provider.asked) == 1


def test_a_server_that_is_not_there_is_refused_before_anything_is_written(
    given: dict[str, Any], tmp_path: Path
) -> None:
    with FaultServer(CHAT) as gone:
        address = gone.base_url
    before = fingerprint(tmp_path)
    with pytest.raises(ProviderDownError, match="no server at "), started(given | {"base_url": address}):
        pytest.fail("it began")
    assert fingerprint(tmp_path) == before
    with started(given | {"base_url": address, "preflight": False}) as run:
        assert run.folder.path.is_dir()


def test_a_model_that_ends_soon_is_one_warning(
    given: dict[str, Any], provider: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    soon = datetime.now(UTC).date() + timedelta(days=59)
    provider.ends = {"o3": str(soon)}
    with started(given | {"base_url": provider.base_url, "coder_model": "openai/o3"}):
        told = f"warning: openai/o3 will be shut down on {soon}: use openai/gpt-6.1-sol\n"
        assert capsys.readouterr() == ("", told)


@pytest.mark.long
def test_a_run_that_goes_on_looks_its_models_up_again(
    given: dict[str, Any], provider: FaultServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with started(given | {"base_url": provider.base_url, "preflight": False}) as run:
        assert provider.asked == []
    again = {"resume": run.folder.run_id, "runs": given["runs"]}
    provider.ends = {"gpt-6.1-sol": "2026-01-01"}
    with (
        pytest.raises(UnknownModelError, match=r"openai/gpt-6\.1-sol was shut down on 2026-01-01"),
        started(again),
    ):
        pytest.fail("it went on")
    provider.listing = CHAT.refused(500, "It broke.", None)
    with started(again):
        (line,) = capsys.readouterr().err.splitlines()
    lost = f"the list of models at {provider.base_url} is not available (the server answers 500"
    assert line.startswith(f"warning: {lost}")


@pytest.mark.parametrize(
    ("ends", "shown", "code"),
    [
        ({}, "available  openai/gpt-6.1-sol", 0),
        ({"gpt-6.1-terra": "2026-01-01"}, "gone       openai/gpt-6.1-terra was shut down on 2026-01-01", 1),
    ],
)
def test_the_doctor_looks_the_models_up(
    given: dict[str, Any],
    provider: FaultServer,
    capsys: pytest.CaptureFixture[str],
    ends: dict[str, str],
    shown: str,
    code: int,
) -> None:
    provider.ends = ends
    found = examine(read(given | {"base_url": provider.base_url}))
    said = capsys.readouterr().out
    assert f"\n{shown}" in said
    assert found == (code if "Level: strict\n" in said else 1)


@pytest.mark.long
def test_the_doctor_has_nothing_to_look_up_offline(given: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    examine(read(given))
    assert capsys.readouterr().out.endswith("\n\nModels:\nembedded   reference/planner\nembedded   reference/coder\n")


@pytest.mark.long
def test_the_desk_keeps_its_books_in_the_runs_folder_and_its_cache_beside_the_runs(given: dict[str, Any]) -> None:
    with started(given | {"cache": True, "max_calls": 2}) as run:
        folder, made = run.folder, desk_of(run)
    made.begin_level(1, "a", "x-v0", 1)
    client = ChatGPTClient[str](ref("free/model"), provider=ScriptedProvider("yes", "no"), desk=made)
    assert [client.chat_completion([Message("user", text)]) for text in "aab"] == ["yes", "yes", "no"]
    with pytest.raises(BudgetReached, match="--max-calls 2"):
        client.chat_completion([Message("user", "c")])
    lines = (folder.path / "calls.jsonl").read_text().splitlines()
    assert [json.loads(line)["run"] for line in lines] == [folder.run_id] * 2
    assert len(list((folder.path / "llm").iterdir())) == 3
    assert len(list((Path(given["runs"]) / "llm_cache").iterdir())) == 2
    with started({"resume": folder.run_id, "runs": given["runs"]}) as again:
        assert [record.outcome.value for record in desk_of(again).ledger.records] == ["answered"] * 2


def test_the_cache_is_no_run(given: dict[str, Any]) -> None:
    (Path(given["runs"]) / "llm_cache").mkdir(parents=True)
    with pytest.raises(ResumeError, match="there are none"):
        find_run(read({"resume": "llm_cache", "runs": given["runs"]}))


@pytest.mark.long
def test_clients_are_told_of_servers_and_limits(given: dict[str, Any]) -> None:
    told = {"base_url": "http://x:1/v1", "timeout": 3.0, "max_output_tokens": 9, "preflight": False}
    with started(given | told) as run:
        assert run.settings.models.servers["openai"].url == "http://x:1/v1"
        assert run.settings.models.limits == RequestOptions(9, None, 3.0)
        assert greeting_of(run).startswith("Models: planner openai/")


def test_excluding_flags_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(SettingsError):
        find_run(read(given | {"only": "a", "start_category": "b"}))


@pytest.mark.long
def test_the_first_line_says_which_parts_of_learning_are_taken_away(given: dict[str, Any]) -> None:
    with started(given) as run:
        assert "Learning with" not in greeting_of(run)
    with started(given | {"compile": False, "carry_over": False}) as run:
        assert greeting_of(run).endswith(" Learning with --no-compile, --no-curriculum.")
    with started({"resume": run.folder.run_id, "runs": given["runs"]}) as again:
        assert greeting_of(again) == describe_run(run, os.environ)
