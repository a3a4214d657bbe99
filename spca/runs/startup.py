"""Start of a run: check models, sandbox and environments, then make or open the run folder and lock it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from spca.body import Body, render_agent
from spca.common.command import program
from spca.common.files import lock_folder, read_text, remove_torn_files
from spca.common.installation import applications, where_runs_lie
from spca.contracts import AgentSource
from spca.llm.calls.budget import Caps
from spca.plan.solver import Solver
from spca.plugins.loaded import format_plugin_flags
from spca.runs.curriculum import Task
from spca.runs.models import Models, require_usable
from spca.runs.provenance import record_continuation, run_info
from spca.runs.recording.folder import ASKED_ANEW, LOCK, Begun, RunFolder
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace
from spca.sandbox.executor import SandboxExecutor


@dataclass(frozen=True, slots=True)
class Prepared:
    """The parts of a run, made once at the start of the run.

    Attributes:
        executor: executor of generated code, whose sandbox was verified.
        tasks: levels of the run; () for a run that is part of an evaluation.
        go_on: the command line that resumes the run.
        asked_anew: role -> number of first calls whose answers are not reused; see
            :class:`spca.llm.calls.desk.CallDesk`.
    """

    settings: Settings
    models: Models
    folder: RunFolder
    workspace: Workspace
    executor: SandboxExecutor
    caps: Caps
    tasks: tuple[Task, ...]
    go_on: str
    asked_anew: Mapping[str, int] | None


@contextmanager
def prepare_run(
    settings: Settings,
    tasks: tuple[Task, ...] | None = None,
    check_worlds: Callable[[Iterable[str]], None] = lambda _ids: None,
    begun: Begun | None = None,
) -> Iterator[Prepared]:
    """Prepare a new or resumed run, and hold the locks of run folder and workspace until the block ends.

    Args:
        tasks: levels of the run; None if an evaluation chooses the levels one by one.
        check_worlds: raises an error if an environment id does not exist.
        begun: the run to resume; None for a new run.

    Raises:
        UserError: the run cannot start. No file was changed.
    """
    with SandboxExecutor(unsafe=settings.unsafe_no_sandbox) as executor:
        executor.begin()
        Solver(settings.engine)  # raises an error if the engine is unknown or missing
        check_worlds(task.env_id for task in tasks or () if not task.world)
        models, caps = require_usable(settings.models)
        sandbox = executor.verify()

        workspace = Workspace(Path(settings.workspace))
        with workspace.hold(settings, is_new=begun is None) as (agent, trusted):
            if begun:
                folder = begun.folder
            else:
                curriculum = None if tasks is None else read_text(Path(settings.curriculum))
                info = run_info(settings, applications(), sandbox, curriculum)
                if curriculum is None:
                    info["evaluation"] = True
                first_agent = agent or AgentSource(_read_initial_agent(settings.body))
                folder = RunFolder.create(
                    Path(settings.runs),
                    info,
                    curriculum or "[]\n",
                    first_agent,
                    trusted,
                    settings.wording.describe_templates(),
                )

            with lock_folder(folder.path, "run", LOCK):
                remove_torn_files(folder.path)
                if begun:
                    record_continuation(begun, settings, sandbox)
                where = f"{where_runs_lie(Path(settings.runs))}{format_plugin_flags()}"
                yield Prepared(
                    settings=settings,
                    models=models,
                    folder=folder,
                    workspace=workspace,
                    executor=executor,
                    tasks=tasks or (),
                    caps=caps,
                    go_on=f"{program()} --resume {folder.run_id}{where}",
                    asked_anew=begun.info.get(ASKED_ANEW) if begun else None,
                )


def _read_initial_agent(body: Body) -> str:
    """Return the source of the agent that a new run of a body begins with."""
    if body.agent_file:
        return read_text(applications() / body.agent_file)
    return render_agent(body)
