"""From settings to a run folder that is locked and ready: everything that can be wrong is found here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from spca import cli
from spca.contracts import AgentSource
from spca.curriculum import Curriculum, Task, load
from spca.errors import ResumeError
from spca.prompts import templates
from spca.runfolder import RunFolder, locked, make_folder, write_atomic
from spca.runinfo import run_info
from spca.workspace import Workspace


def settings(given: Mapping[str, Any], root: Path) -> cli.Settings:
    """Settings of a new run, or those recorded in the run to be resumed.

    Raises:
        UserError: flags that exclude one another or contradict the run.
    """
    environ = cli.load_environment(root)
    if "resume" in given:
        runs = Path.cwd() / given["runs"] if "runs" in given else root / "runs"
        recorded = RunFolder.open(runs, given["resume"]).info()["settings"]
        return cli.resumed_settings({"runs": str(runs), **given}, recorded, Path.cwd())
    chosen = cli.settings_from(given, environ, root, Path.cwd())
    cli.check_choice(chosen)
    return chosen


def tasks(chosen: cli.Settings, curriculum: Curriculum | None = None) -> tuple[Task, ...]:
    """The levels that the settings select, in order.

    Raises:
        CurriculumError: the file is malformed, or a name in the settings is unknown.
    """
    whole = curriculum or load(Path(chosen.curriculum))
    return whole.select(start_category=chosen.start_category, only=chosen.only, levels=chosen.levels).tasks()


@contextmanager
def opened(
    chosen: cli.Settings, root: Path, check_ids: Callable[[Iterable[str]], None]
) -> Iterator[tuple[RunFolder, Sequence[Task]]]:
    """The run folder with its levels, new or resumed, while this process holds the locks of it and its workspace.

    Args:
        root: folder of the checkout, where the initial ``agent.py`` lies.
        check_ids: refuses unknown environment ids.

    Raises:
        UserError: anything that keeps the run from starting; nothing was changed then.
    """
    if chosen.resume:
        folder = RunFolder.open(Path(chosen.runs), chosen.resume)
        selected = tasks(chosen, load(folder.path / "curriculum.json"))
        if len(folder.state()["finished"]) > len(selected):
            raise ResumeError(f"{folder.path}: more levels are finished than the run has")
        workspace = Workspace(Path(chosen.workspace))
        with locked(workspace.path, "workspace"), locked(folder.path, "run"):
            yield folder, selected
        return
    selected = tasks(chosen)
    check_ids(task.env_id for task in selected)
    workspace = Workspace(Path(chosen.workspace))
    make_folder(Path(chosen.runs))
    with locked(workspace.path, "workspace"):
        folder = _new_folder(chosen, root, workspace)
        with locked(folder.path, "run"):
            yield folder, selected


def _new_folder(chosen: cli.Settings, root: Path, workspace: Workspace) -> RunFolder:
    agent = workspace.agent() if chosen.keep_agent else AgentSource((root / "agent.py").read_text(encoding="utf-8"))
    trusted = workspace.trusted_pddl() if chosen.keep_pddl else None
    if trusted is None:
        workspace.forget_pddl()
    curriculum = Path(chosen.curriculum).read_text(encoding="utf-8")
    folder = RunFolder.create(Path(chosen.runs), run_info(chosen, root), curriculum, agent, trusted)
    log = "\n".join(f"## {name}\n\n```\n{text}```\n" for name, text in templates().items())
    write_atomic(folder.path / "prompt_log.md", f"# Prompt templates of this run\n\n{log}")
    return folder
