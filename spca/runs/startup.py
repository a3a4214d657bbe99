"""From settings to a run folder that is locked and ready: everything that can be wrong is found here."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from spca.act.frame import WorldMaker
from spca.common import command
from spca.common.files import check_folder, locked, make_folder, read_text
from spca.contracts import AgentSource, TrustedPDDL
from spca.errors import ResumeError
from spca.llm.calls.cache import Cache
from spca.llm.calls.desk import CallDesk
from spca.llm.providers.registry import provider_for
from spca.prompts import templates
from spca.runs import cli, model_choice
from spca.runs.curriculum import Curriculum, Task, load
from spca.runs.display import list_tasks
from spca.runs.folder import CURRICULUM, LOCK, RunFolder
from spca.runs.provenance import check_sandbox, check_versions, run_info
from spca.runs.settings import Settings
from spca.runs.workspace import Workspace
from spca.sandbox.executor import SandboxExecutor


def settings(given: Mapping[str, Any], root: Path) -> Settings:
    """Settings of a new run, or those recorded in the run to be resumed.

    Raises:
        UserError: flags that exclude one another or contradict the run.
    """
    environ = cli.load_environment(root)
    if "resume" in given:
        runs = Path.cwd() / given["runs"] if "runs" in given else root / "runs"
        info = RunFolder.open(runs, given["resume"]).info()
        chosen = cli.resumed_settings({"runs": str(runs), **given}, info["settings"], environ, Path.cwd())
        check_versions(info.get("versions", {}))
    else:
        chosen = cli.settings_from(given, environ, root, Path.cwd())
    cli.check_choice(chosen)
    return chosen


def doctor(chosen: Settings) -> int:
    """Print what the wall around generated code is made of here and what is known of each model; the exit code.

    Raises:
        UserError: not even the wall's process can be started, or a model lacks its key.
    """
    from spca.sandbox.doctor import examination as sandbox_doctor
    from spca.sandbox.process.client import Zygote

    with closing(Zygote()) as zygote:
        report = sandbox_doctor.examine(zygote)
    print(sandbox_doctor.render(report))
    models = model_choice.look_up(chosen)
    print(f"\nModels:\n{models.render()}")
    return command.EXIT_FINISHED if report.level == "strict" and not models.is_refused else command.EXIT_FAILED


def preflight(chosen: Settings) -> None:
    """Look up the models of a run before anything is paid; warn of what ends soon or cannot be looked up.

    Raises:
        UnknownModelError: a model is missing or was shut down.
    """
    if chosen.preflight and (warning := model_choice.look_up(chosen).warning()):
        print(f"warning: {warning}", file=sys.stderr, flush=True)


def tasks(chosen: Settings, curriculum: Curriculum | None = None) -> tuple[Task, ...]:
    """The levels that the settings select, in order.

    Raises:
        CurriculumError: the file is malformed, or a name in the settings is unknown.
    """
    whole = curriculum or load(Path(chosen.curriculum))
    return whole.select(start_category=chosen.start_category, only=chosen.only, levels=chosen.levels).tasks()


def other_command(
    given: Mapping[str, Any], root: Path, look: Callable[[Sequence[str], Path, WorldMaker], int], make_world: WorldMaker
) -> int:
    """Carry out a command that learns nothing; the exit code.

    Args:
        look: carries out a command that looks at runs.
        make_world: builds the worlds in which recorded episodes are replayed.

    Raises:
        UserError: a mistake in what was given.
    """
    if given["command"] == "doctor":
        return doctor(settings(given, root))
    if given["command"] == "list":
        return show_levels(settings(given, root))
    return look(given["arguments"], root, make_world)


def show_levels(chosen: Settings) -> int:
    """Print the levels that the settings select; the exit code."""
    list_tasks([(task.category, task.level, task.env_id) for task in tasks(chosen)])
    return command.EXIT_FINISHED


def check_models(chosen: Settings) -> None:
    """Refuse models that do not exist or lack a key.

    Raises:
        ProviderConfigError: says which.
    """
    for model in chosen.models:
        provider_for(model, addresses=model_choice.addresses(chosen), table=model_choice.table(chosen))


@contextmanager
def opened(
    chosen: Settings, root: Path, check: Callable[[Settings, Sequence[Task]], None]
) -> Iterator[tuple[RunFolder, Sequence[Task], SandboxExecutor]]:
    """The run folder with its levels, new or resumed, while this process holds the locks of it and its workspace.

    With them comes the executor, proven to hold.

    Args:
        root: folder of the checkout, where the initial ``agent.py`` lies.
        check: refuses models, engines and environments that do not exist.

    Raises:
        UserError: anything that keeps the run from starting; nothing was changed then.
    """
    resumed = RunFolder.open(Path(chosen.runs), chosen.resume) if chosen.resume else None
    if resumed and resumed.info().get("evaluation"):
        raise ResumeError(f"{resumed.path}: is part of an evaluation: go on with its run_eval.py command and --resume")
    selected = tasks(chosen, load(resumed.path / CURRICULUM) if resumed else None)
    if resumed and len(resumed.state()["finished"]) > len(selected):
        raise ResumeError(f"{resumed.path}: more levels are finished than the run has")
    with held(chosen, root, lambda: check(chosen, selected), resumed) as (folder, executor):
        yield folder, selected, executor


@contextmanager
def held(
    chosen: Settings,
    root: Path,
    check: Callable[[], None],
    resumed: RunFolder | None = None,
    curriculum: str | None = None,
) -> Iterator[tuple[RunFolder, SandboxExecutor]]:
    """Like :func:`opened`, for a run whose levels are chosen elsewhere.

    Args:
        resumed: the folder to go on with; None for a new one.
        curriculum: text to be kept in a new folder; by default that of the file in the settings.
    """
    with SandboxExecutor(unsafe=chosen.unsafe_no_sandbox) as executor:
        executor.begin()
        check()
        model_choice.caps(chosen, model_choice.table(chosen))
        preflight(chosen)
        sandbox = executor.verify()
        if resumed:
            check_sandbox(resumed.info().get("sandbox"), sandbox)
        workspace = Workspace(Path(chosen.workspace))
        if not resumed:
            _beginning(chosen, root, workspace)
        check_folder(Path(chosen.runs))
        make_folder(workspace.path)
        with locked(workspace.path, "workspace"):
            folder = resumed or _new_folder(chosen, root, workspace, sandbox, curriculum)
            with locked(folder.path, "run", LOCK):
                if resumed:
                    _keep_changes(resumed, chosen)
                yield folder, executor


def _keep_changes(folder: RunFolder, chosen: Settings) -> None:
    """Record what a flag has changed in a run that goes on, so that it holds the next time too."""
    info = folder.info()
    settings = cli.kept(info["settings"], chosen)
    if settings != info["settings"]:
        folder.write_json("run.json", info | {"settings": settings})


def desk(chosen: Settings, folder: RunFolder) -> CallDesk:
    """What all calls of a run pass through; enters a request that a killed process had in flight into the books.

    Raises:
        UserError: the caps cannot hold, or books or transcripts cannot be read.
    """
    known = model_choice.table(chosen)
    cache = Cache(Path(chosen.runs) / "llm_cache", partial(model_choice.place, chosen)) if chosen.cache else None
    return CallDesk(folder.path, folder.run_id, caps=model_choice.caps(chosen, known), table=known, cache=cache)


def client_options(chosen: Settings) -> dict[str, Any]:
    """What every client of a run is made with."""
    return {"addresses": model_choice.addresses(chosen), "limits": model_choice.limits(chosen)}


def greeting(chosen: Settings) -> str:
    """The first line of a run: its models and caps."""
    return model_choice.greeting(chosen, os.environ, model_choice.caps(chosen, model_choice.table(chosen)))


def _beginning(chosen: Settings, root: Path, workspace: Workspace) -> tuple[AgentSource, TrustedPDDL | None]:
    """The agent and PDDL that a new run begins with."""
    agent = workspace.agent() if chosen.keep_agent else AgentSource(read_text(root / "agent.py"))
    return agent, workspace.trusted_pddl() if chosen.keep_pddl else None


def _new_folder(chosen: Settings, root: Path, workspace: Workspace, sandbox: str, curriculum: str | None) -> RunFolder:
    # Read again now that nobody else can write it.
    agent, trusted = _beginning(chosen, root, workspace)
    levels = read_text(Path(chosen.curriculum)) if curriculum is None else curriculum
    log = "\n".join(f"## {name}\n\n```\n{text}```\n" for name, text in templates().items())
    prompts = f"# Prompt templates of this run\n\n{log}"
    info = run_info(chosen, root, sandbox) | ({} if curriculum is None else {"evaluation": True})
    return RunFolder.create(Path(chosen.runs), info, levels, agent, trusted, prompts)
