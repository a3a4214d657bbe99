"""From options to a run folder that is locked and ready: everything that can be wrong is found here."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from spca.common.command import program
from spca.common.files import locked, read_text, remove_torn_files
from spca.common.installation import applications, where_runs_lie
from spca.contracts import AgentSource
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import Cache
from spca.llm.calls.desk import CallDesk
from spca.plan.solver import Solver
from spca.runs.curriculum import Task
from spca.runs.models import Models, require_usable
from spca.runs.provenance import record_continuation, run_info
from spca.runs.recording.folder import ASKED_ANEW, LOCK, Begun, RunFolder
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace
from spca.sandbox.executor import SandboxExecutor


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a run needs, made once at its start.

    Attributes:
        executor: proven to hold.
        go_on: the command that goes on with the run.
        make_desk: makes what all calls of models pass through; raises a UserError if the ledger cannot be read.
    """

    settings: Settings
    models: Models
    folder: RunFolder
    workspace: Workspace
    executor: SandboxExecutor
    caps: Caps
    tasks: tuple[Task, ...]
    go_on: str
    make_desk: Callable[[], CallDesk]

    def greet(self) -> str:
        """Return the first line of the run: its models and caps, and flags that take parts of learning away."""
        line = self.models.greet(os.environ, self.caps)
        flags = self.settings.ablations
        return f"{line} Learning with {', '.join(flags)}." if flags else line


@contextmanager
def prepare_run(
    settings: Settings,
    tasks: tuple[Task, ...] | None = None,
    check_worlds: Callable[[Iterable[str]], None] = lambda _ids: None,
    begun: Begun | None = None,
) -> Iterator[Prepared]:
    """Hold a run, new or resumed, with the locks of it and its workspace, until the block ends.

    Args:
        tasks: the levels; None where an evaluation chooses them one by one.
        check_worlds: refuses ids of environments that do not exist.
        begun: the run to go on with; None for a new one.

    Raises:
        UserError: anything that keeps the run from starting; nothing was changed then.
    """
    with SandboxExecutor(unsafe=settings.unsafe_no_sandbox) as executor:
        executor.begin()
        Solver(settings.engine)
        check_worlds(task.env_id for task in tasks or ())
        models, caps = require_usable(settings.models)
        sandbox = executor.verify()

        workspace = Workspace(Path(settings.workspace))
        with workspace.hold(settings, is_new=begun is None) as (agent, trusted):
            if begun:
                folder = begun.folder
            else:
                levels = None if tasks is None else read_text(Path(settings.curriculum))
                info = run_info(settings, applications(), sandbox, levels)
                if levels is None:
                    info["evaluation"] = True
                folder = RunFolder.create(
                    Path(settings.runs),
                    info,
                    levels or "[]\n",
                    agent or AgentSource(read_text(applications() / "agent.py")),
                    trusted,
                    settings.wording.describe_templates(),
                )

            with locked(folder.path, "run", LOCK):
                remove_torn_files(folder.path)
                if begun:
                    record_continuation(begun, settings, sandbox)
                asked_anew = begun.info.get(ASKED_ANEW) if begun else None
                yield Prepared(
                    settings=settings,
                    models=models,
                    folder=folder,
                    workspace=workspace,
                    executor=executor,
                    tasks=tasks or (),
                    caps=caps,
                    go_on=f"{program()} --resume {folder.run_id}{where_runs_lie(Path(settings.runs))}",
                    make_desk=partial(make_desk, settings, models, caps, folder, asked_anew),
                )


def make_desk(
    settings: Settings, models: Models, caps: Caps, folder: RunFolder, asked_anew: Mapping[str, int] | None = None
) -> CallDesk:
    """Return the desk that all calls of a run pass through.

    Args:
        asked_anew: calls of levels that are played again; see :class:`CallDesk`.

    Raises:
        UserError: the ledger cannot be read.
    """
    cache = Cache(Path(settings.runs) / "llm_cache", models.catalogue.servers) if settings.models.cache else None
    return CallDesk(
        folder.path, folder.run_id, caps=caps, catalogue=models.catalogue, cache=cache, asked_anew=asked_anew
    )
