"""From options to a run folder that is locked and ready: everything that can be wrong is found here."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from spca.common import command
from spca.common.debug_log import log_to_folder
from spca.common.files import check_folder, locked, make_folder, read_text, remove_torn_files
from spca.common.installation import home, where_runs_lie
from spca.contracts import AgentSource
from spca.errors import ResumeError
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import Cache
from spca.llm.calls.desk import CallDesk
from spca.plan.solver import Solver
from spca.runs import cli, curriculum
from spca.runs.curriculum import Task
from spca.runs.display import list_tasks
from spca.runs.folder import ASKED_ANEW, CURRICULUM, LOCK, Begun, RunFolder
from spca.runs.level.barren import count_barren_end
from spca.runs.model_choice import Models, look_up, require_usable
from spca.runs.provenance import check_versions, continue_run, run_info
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace
from spca.sandbox.executor import SandboxExecutor

_LOG: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that a run needs, made once at its start.

    Attributes:
        greeting: the first line of the run: its models and caps, and flags that take parts of learning away.
        make_desk: makes what all calls of models pass through; raises a UserError if the ledger cannot be read.
        executor: proven to hold.
        go_on: the command that goes on with the run.
    """

    settings: Settings
    models: Models
    greeting: str
    folder: RunFolder
    workspace: Workspace
    make_desk: Callable[[], CallDesk]
    executor: SandboxExecutor
    tasks: tuple[Task, ...]
    go_on: str


def settings(given: Mapping[str, Any], root: Path) -> tuple[Settings, Begun | None]:
    """Return the settings of a new run, or those recorded in the run to be resumed, with that run.

    Raises:
        UserError: flags that exclude one another or contradict the run.
    """
    if "resume" not in given:
        return cli.resolve_settings(given, root), None
    runs = Path.cwd() / given.get("runs", home(root, Path.cwd()) / "runs")
    begun = RunFolder.begun(runs, given["resume"])
    chosen = cli.resolve_settings({"runs": str(runs), **given}, root, begun.info["settings"])
    check_versions(begun.info.get("versions", {}))
    return chosen, begun


def doctor(given: Mapping[str, Any], root: Path) -> int:
    """Print what the sandbox of generated code is made of here and what is known of each model; the exit code.

    Raises:
        UserError: not even the sandbox's process can be started, or a model lacks its key.
    """
    from spca.sandbox.doctor import examination as sandbox_doctor
    from spca.sandbox.process.client import Zygote

    chosen, _ = settings(given, root)
    with closing(Zygote()) as zygote:
        report = sandbox_doctor.examine(zygote)
    print(sandbox_doctor.render(report))
    models = look_up(chosen.models)
    print(f"\nModels:\n{models.render()}")
    return command.EXIT_FINISHED if report.level == "strict" and not models.is_refused else command.EXIT_FAILED


def show_levels(given: Mapping[str, Any], root: Path) -> int:
    """Print the levels that the options select; the exit code."""
    chosen, _ = settings(given, root)
    selected = curriculum.selected(Path(chosen.curriculum), chosen)
    list_tasks([(task.category, task.level, task.env_id) for task in selected])
    return command.EXIT_FINISHED


@contextmanager
def started(given: Mapping[str, Any], root: Path, check_worlds: Callable[[Iterable[str]], None]) -> Iterator[Prepared]:
    """A run, new or resumed, while this process holds the locks of it and its workspace.

    Args:
        given: the options on the command line.
        root: folder of the applications, where the initial ``agent.py`` lies.
        check_worlds: refuses ids of environments that do not exist.

    Raises:
        UserError: anything that keeps the run from starting; nothing was changed then.
    """
    chosen, begun = settings(given, root)
    if begun and begun.info.get("evaluation"):
        where = begun.folder.path
        raise ResumeError(f"{where}: is part of an evaluation: go on with the command of the evaluation and --resume")
    if begun:
        _LOG.info("%s goes on after %d levels", begun.folder.path, len(begun.finished))
    tasks = curriculum.selected(begun.folder.path / CURRICULUM if begun else Path(chosen.curriculum), chosen)
    if begun and len(begun.finished) > len(tasks):
        raise ResumeError(f"{begun.folder.path}: more levels are finished than the run has")
    with prepared(chosen, root, tasks, check_worlds, begun) as run:
        yield run


@contextmanager
def prepared(
    chosen: Settings,
    root: Path,
    tasks: tuple[Task, ...] | None = None,
    check_worlds: Callable[[Iterable[str]], None] = lambda _ids: None,
    begun: Begun | None = None,
) -> Iterator[Prepared]:
    """Like :func:`started`, from settings.

    Args:
        tasks: the levels; None where an evaluation chooses them one by one.
        begun: the run to go on with; None for a new one.
    """
    with SandboxExecutor(unsafe=chosen.unsafe_no_sandbox) as executor:
        executor.begin()
        Solver(chosen.engine)
        check_worlds(task.env_id for task in tasks or ())
        models, caps, greeting = require_usable(chosen.models)
        if chosen.ablations:
            greeting = f"{greeting} Learning with {', '.join(chosen.ablations)}."
        sandbox = executor.verify()
        workspace = Workspace(Path(chosen.workspace))
        if not begun:
            workspace.kept(chosen)
        check_folder(Path(chosen.runs))
        make_folder(workspace.path)
        with locked(workspace.path, "workspace"):
            remove_torn_files(workspace.path, ".*.tmp")
            folder = begun.folder if begun else _new_folder(chosen, root, workspace, sandbox, tasks)
            with locked(folder.path, "run", LOCK), log_to_folder(folder.path):
                if begun:
                    remove_torn_files(folder.path)
                    _keep_changes(begun, chosen, sandbox, root)
                asked_anew = begun.info.get(ASKED_ANEW) if begun else None
                make_desk = desk_maker(chosen, models, caps, folder, asked_anew)
                go_on = f"{command.program()} --resume {folder.run_id}{where_runs_lie(Path(chosen.runs))}"
                yield Prepared(chosen, models, greeting, folder, workspace, make_desk, executor, tasks or (), go_on)


def desk_maker(
    chosen: Settings, models: Models, caps: Caps, folder: RunFolder, asked_anew: Mapping[str, int] | None = None
) -> Callable[[], CallDesk]:
    """Return what makes the desk that all calls of a run pass through; ``asked_anew``: see :class:`CallDesk`."""
    cache = Cache(Path(chosen.runs) / "llm_cache", models.catalogue.servers) if chosen.models.cache else None
    make_desk = partial(CallDesk, folder.path, folder.run_id, asked_anew=asked_anew)
    return partial(make_desk, caps=caps, catalogue=models.catalogue, cache=cache)


def _keep_changes(begun: Begun, chosen: Settings, sandbox: str, root: Path) -> None:
    """Record what a flag or an edited source has changed in a run that goes on, so that it holds the next time too.

    Raises:
        ResumeError: the run was begun in another sandbox.
    """
    finished = len(begun.finished) - count_barren_end(begun.finished)
    changed = continue_run(begun.info, chosen, sandbox, finished, root)
    if changed != begun.info:
        begun.folder.write_json("run.json", changed)


def _new_folder(
    chosen: Settings, root: Path, workspace: Workspace, sandbox: str, tasks: tuple[Task, ...] | None
) -> RunFolder:
    agent, trusted = workspace.kept(chosen)  # once more, now that nobody else can write it
    levels = "[]\n" if tasks is None else read_text(Path(chosen.curriculum))
    log = "\n".join(f"## {name}\n\n```\n{text}```\n" for name, text in chosen.wording.templates().items())
    prompts = f"# Prompt templates of this run\n\n{log}"
    info = run_info(chosen, root, sandbox, None if tasks is None else levels)
    if tasks is None:
        info["evaluation"] = True
    first = agent or AgentSource(read_text(root / "agent.py"))
    return RunFolder.create(Path(chosen.runs), info, levels, first, trusted, prompts)
