"""The workspace: the growing agent and its PDDL, in files that a user can open, edit and carry to the next run."""

from __future__ import annotations

from pathlib import Path

from spca.contracts import AgentSource, Plan, TrustedPDDL
from spca.errors import SettingsError
from spca.runfolder import make_folder, write_atomic


class Workspace:
    """``agent.py`` (source of truth), ``agent_tmp.py`` (working copy), ``domain.pddl``, ``problem.pddl``.

    Raises:
        SettingsError: the folder cannot be written to.
    """

    def __init__(self, path: Path) -> None:
        make_folder(path)
        self.path = path

    def agent(self) -> AgentSource:
        """The agent to continue from (``--keep-agent``).

        Raises:
            SettingsError: there is none.
        """
        return AgentSource(self._kept("agent.py", "--keep-agent"))

    def trusted_pddl(self) -> TrustedPDDL:
        """The PDDL to continue from (``--keep-pddl``).

        Raises:
            SettingsError: there is none.
        """
        return TrustedPDDL(self._kept("domain.pddl", "--keep-pddl"), self._kept("problem.pddl", "--keep-pddl"))

    def save_agent(self, agent: AgentSource) -> None:
        write_atomic(self.path / "agent.py", agent.text)
        self.save_working_copy(agent)

    def save_working_copy(self, agent: AgentSource) -> None:
        write_atomic(self.path / "agent_tmp.py", agent.text)

    def save_pddl(self, plan: Plan) -> None:
        write_atomic(self.path / "domain.pddl", plan.domain)
        write_atomic(self.path / "problem.pddl", plan.problem)

    def forget_pddl(self) -> None:
        for name in ("domain.pddl", "problem.pddl"):
            (self.path / name).unlink(missing_ok=True)

    def _kept(self, name: str, flag: str) -> str:
        try:
            return (self.path / name).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SettingsError(f"{flag}: {self.path / name} cannot be read: run once without {flag}") from error
