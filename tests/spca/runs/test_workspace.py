"""The workspace's files."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.common.errors import SettingsError
from spca.contracts import AgentSource, TrustedPDDL
from spca.runs.workspace import Workspace
from tests.support.bodies.grid import kept_agent
from tests.support.spca.doubles import AGENT


def test_nothing_is_made_before_something_is_saved(tmp_path: Path) -> None:
    Workspace(tmp_path / "workspace")
    assert list(tmp_path.iterdir()) == []


def test_what_is_saved_can_be_continued_from(tmp_path: Path) -> None:
    Workspace(tmp_path).save(AGENT, TrustedPDDL("(define (domain d))", "(define (problem p))"))
    assert kept_agent(Workspace(tmp_path)) == AGENT
    assert Workspace(tmp_path).load_trusted_pddl() == TrustedPDDL("(define (domain d))", "(define (problem p))")
    assert (tmp_path / "agent_tmp.py").read_text() == AGENT.text


def test_without_pddl_the_old_files_go(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.save(AGENT, TrustedPDDL("(define (domain d))", "(define (problem p))"))
    workspace.save(AGENT, None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["agent.py", "agent_tmp.py"]


def test_a_working_copy_leaves_the_agent_alone(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.save(AGENT, None)
    workspace.save_working_copy(AgentSource("class Agent: ..."))
    assert kept_agent(workspace) == AGENT
    assert (tmp_path / "agent_tmp.py").read_text() == "class Agent: ..."


def test_what_is_not_there_names_the_flag(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"--keep-agent: .*agent.py cannot be read: .*run once without --keep-agent"
    ):
        kept_agent(Workspace(tmp_path))
    (tmp_path / "domain.pddl").write_text("(define (domain d))")
    with pytest.raises(SettingsError, match=r"--keep-pddl: .*problem.pddl"):
        Workspace(tmp_path).load_trusted_pddl()


@pytest.mark.parametrize("text", ["x = 1", "class Agent:\n  def"])
def test_an_agent_that_is_none_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "agent.py").write_text(text)
    with pytest.raises(SettingsError, match=r"--keep-agent: .*agent\.py: ") as caught:
        kept_agent(Workspace(tmp_path))
    assert "\n" not in str(caught.value)


def test_an_agent_that_the_gate_refuses_is_told_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text("import os\n\nclass Agent:\n    def go(self):\n        yield open('f')\n")
    with pytest.raises(SettingsError, match=r"--keep-agent: .*agent\.py: line 1: module os is not available") as caught:
        kept_agent(Workspace(tmp_path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"class Agent:\n    '\0'"])
def test_an_agent_that_is_no_text_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "agent.py").write_bytes(data)
    with pytest.raises(SettingsError, match="cannot be read"):
        kept_agent(Workspace(tmp_path))


@pytest.mark.parametrize(
    ("domain", "fault"), [("(define (domain d)", "never closed"), ("nonsense", "it holds no"), ("", "it holds no")]
)
def test_kept_pddl_has_to_be_pddl(tmp_path: Path, domain: str, fault: str) -> None:
    (tmp_path / "domain.pddl").write_text(domain)
    (tmp_path / "problem.pddl").write_text("(define (problem p))")
    with pytest.raises(SettingsError, match=rf"--keep-pddl: .*domain.pddl: .*{fault}"):
        Workspace(tmp_path).load_trusted_pddl()


def test_what_somebody_changed_is_brought_up_to_date(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    workspace.save(AGENT, None)
    before = (tmp_path / "agent.py").stat().st_ino
    workspace.save(AGENT, None)
    assert (tmp_path / "agent.py").stat().st_ino == before  # nothing new, nothing written
    (tmp_path / "agent.py").write_text(AGENT.text + "\n")
    workspace.save(AGENT, None)
    assert (tmp_path / "agent.py").read_text() == AGENT.text
