"""The workspace: the growing agent and its PDDL, in files that a user can open, edit and carry to the next run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spca.code.policy import check as policy
from spca.common.errors import FileError, SettingsError
from spca.common.files import check_folder, lock_folder, make_folder, read_text, remove_torn_files, write_atomic
from spca.common.text import escape_code
from spca.contracts import AgentSource, TrustedPDDL
from spca.errors import PatchError
from spca.plan.pddl import shape_fault
from spca.runs.settings import Settings


@dataclass(frozen=True, slots=True)
class Workspace:
    """``agent.py`` (source of truth), ``agent_tmp.py`` (working copy), ``domain.pddl``, ``problem.pddl``.

    ``path`` need not exist before something is saved.
    """

    path: Path

    @contextmanager
    def hold(self, settings: Settings, *, is_new: bool) -> Iterator[tuple[AgentSource | None, TrustedPDDL | None]]:
        """Keep the workspace to this process until the block ends; yield what a new run continues from.

        Args:
            settings: of the run.
            is_new: a run that goes on has its own files.

        Raises:
            SettingsError: as :meth:`load_kept`, or no run can be written; nothing was changed then.
            WorkspaceBusyError: another process holds it.
        """
        if is_new:
            self.load_kept(settings)
        check_folder(Path(settings.runs))
        make_folder(self.path)
        with lock_folder(self.path, "workspace"):
            remove_torn_files(self.path, ".*.tmp")
            yield self.load_kept(settings) if is_new else (None, None)  # once more: nobody else can write it now

    def load_kept(self, settings: Settings) -> tuple[AgentSource | None, TrustedPDDL | None]:
        """Return the agent and the PDDL that a new run is to continue from.

        Raises:
            SettingsError: as :meth:`agent` and :meth:`load_trusted_pddl`.
        """
        return self.agent() if settings.keep_agent else None, self.load_trusted_pddl() if settings.keep_pddl else None

    def agent(self) -> AgentSource:
        """The agent to continue from (``--keep-agent``).

        Raises:
            SettingsError: it is missing, it is not the source of an agent, or the policy refuses to run it.
        """
        agent = AgentSource(escape_code(self._read_kept_file("agent.py", "--keep-agent")))
        try:
            policy.check_agent(agent)
        except PatchError as error:
            fault = str(error).partition("\n")[0]
            raise SettingsError(f"--keep-agent: {self.path / 'agent.py'}: {fault}") from error
        return agent

    def load_trusted_pddl(self) -> TrustedPDDL:
        """The PDDL to continue from (``--keep-pddl``).

        Raises:
            SettingsError: it is missing, or not PDDL.
        """
        kept = TrustedPDDL(
            self._read_kept_file("domain.pddl", "--keep-pddl"), self._read_kept_file("problem.pddl", "--keep-pddl")
        )
        for name, text in (("domain.pddl", kept.domain), ("problem.pddl", kept.problem)):
            fault = shape_fault(text) or ("" if "(define" in text.lower() else "it holds no (define ...)")
            if fault:
                raise SettingsError(f"--keep-pddl: {self.path / name}: {fault}")
        return kept

    def save(self, agent: AgentSource, pddl: TrustedPDDL | None) -> None:
        """Bring all files up to date; without trusted PDDL there are no PDDL files."""
        self._update("agent.py", agent.text)
        self.save_working_copy(agent)
        if pddl is not None:
            self._update("domain.pddl", pddl.domain)
            self._update("problem.pddl", pddl.problem)
            return
        for name in ("domain.pddl", "problem.pddl"):
            (self.path / name).unlink(missing_ok=True)

    def save_working_copy(self, agent: AgentSource) -> None:
        self._update("agent_tmp.py", agent.text)

    def _update(self, name: str, text: str) -> None:
        """Replace a file that does not hold ``text`` yet."""
        path = self.path / name
        with suppress(OSError):  # what cannot be read is written anew
            if path.is_file() and path.read_bytes() == text.encode():
                return
        write_atomic(path, text)

    def _read_kept_file(self, name: str, flag: str) -> str:
        try:
            return read_text(self.path / name)
        except FileError as error:
            raise SettingsError(f"{flag}: {error}; or run once without {flag}") from error
