"""The workspace: files of the growing agent and its PDDL. A user can edit them; a later run can continue from them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from spca.body import AgentInterface
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
    """The folder of ``agent.py`` (source of truth), ``agent_tmp.py`` (working copy) and the two PDDL files.

    ``path`` need not exist before the first file is saved.
    """

    path: Path

    @contextmanager
    def hold(self, settings: Settings, *, is_new: bool) -> Iterator[tuple[AgentSource | None, TrustedPDDL | None]]:
        """Lock the workspace until the block ends; yield the agent and the PDDL that a new run continues from.

        Args:
            settings: settings of the run.
            is_new: whether the run is new. For a resumed run, which has its own files, (None, None) is yielded.

        Raises:
            SettingsError: see :meth:`load_kept`; or the folder of runs cannot be written to. No file was changed.
            WorkspaceBusyError: another process holds the lock.
        """
        if is_new:
            self.load_kept(settings)  # raises errors before any folder is made
        check_folder(Path(settings.runs))
        make_folder(self.path)
        with lock_folder(self.path, "workspace"):
            remove_torn_files(self.path, ".*.tmp")
            # Read again, because another process may have written the files before the lock was taken.
            yield self.load_kept(settings) if is_new else (None, None)

    def load_kept(self, settings: Settings) -> tuple[AgentSource | None, TrustedPDDL | None]:
        """Return the agent and the PDDL that a new run continues from; None for a part that the user does not keep.

        Raises:
            SettingsError: see :meth:`agent` and :meth:`load_trusted_pddl`.
        """
        agent = self.agent(settings.body.interface) if settings.keep_agent else None
        trusted = self.load_trusted_pddl() if settings.keep_pddl else None
        return agent, trusted

    def agent(self, interface: AgentInterface) -> AgentSource:
        """Return the agent to continue from (``--keep-agent``).

        Args:
            interface: names of the agent's primitives and state.

        Raises:
            SettingsError: the file is missing or is not the source of an agent, or the policy forbids the code.
        """
        agent = AgentSource(escape_code(self._read_kept_file("agent.py", "--keep-agent")))
        try:
            policy.check_agent(agent, interface)
        except PatchError as error:
            fault = str(error).partition("\n")[0]
            raise SettingsError(f"--keep-agent: {self.path / 'agent.py'}: {fault}") from error
        return agent

    def load_trusted_pddl(self) -> TrustedPDDL:
        """Return the PDDL to continue from (``--keep-pddl``).

        Raises:
            SettingsError: a file is missing, or is not PDDL.
        """
        domain = self._read_kept_file("domain.pddl", "--keep-pddl")
        problem = self._read_kept_file("problem.pddl", "--keep-pddl")
        for name, text in (("domain.pddl", domain), ("problem.pddl", problem)):
            fault = shape_fault(text)
            if not fault and "(define" not in text.lower():
                fault = "it holds no (define ...)"
            if fault:
                raise SettingsError(f"--keep-pddl: {self.path / name}: {fault}")
        return TrustedPDDL(domain, problem)

    def save(self, agent: AgentSource, pddl: TrustedPDDL | None) -> None:
        """Write all files; if ``pddl`` is None, remove the PDDL files."""
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
        """Write ``text`` to a file, unless the file holds ``text`` already."""
        path = self.path / name
        with suppress(OSError):  # a file that cannot be read is replaced
            if path.is_file() and path.read_bytes() == text.encode():
                return
        write_atomic(path, text)

    def _read_kept_file(self, name: str, flag: str) -> str:
        try:
            return read_text(self.path / name)
        except FileError as error:
            raise SettingsError(f"{flag}: {error}; or run once without {flag}") from error
