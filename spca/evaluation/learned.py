"""Reader of the agents, writers and curriculum that an evaluation uses, from a run or from an agent's file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spca.bodies.recorded import require_same_body
from spca.code.policy import check as policy
from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.plugins.plugin_records import PLUGINS
from spca.common.text import escape_code
from spca.contracts import AgentSource
from spca.errors import PatchError, ResumeError
from spca.plugins.loaded import require_plugins
from spca.plugins.registry import MINIGRID, find_body
from spca.runs.curriculum import Curriculum, Task, parse
from spca.runs.recording.folder import LearnedFiles, RunFolder
from spca.runs.recording.writer_files import WriterFiles
from spca.writers.stored import StoredWriter


@dataclass(frozen=True, slots=True)
class Learned:
    """The agents, curriculum and problem writers of a run, or the agent of a file with a curriculum.

    Attributes:
        source: id of the run, or path of the agent's file as the user gave it.
        agents: agents by category; the key "" stands for all other categories.
        text: content of the curriculum's file.
        curriculum: the curriculum parsed from ``text``.
        tasks: all levels of the curriculum.
        categories: categories of the levels that the run has learned, in order; () for a file.
        settings: settings of the run; {} for a file.
        warning: a warning that the run has not yet learned all its levels; "" if it has learned them all.
        writers: records of the problem writers in the run's state.
        stored: the problem writers of these records.
        of_category: the only category that the writers may plan for; None for all categories. If each category of a run
            has a library of its own, the run keeps the writers of its last category only.
        writer_texts: contents of the files that the writers need, by file name.
        plugins: names of the plugins that the run has used.
    """

    source: str
    agents: Mapping[str, AgentSource]
    text: str
    curriculum: Curriculum
    tasks: Sequence[Task]
    categories: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    warning: str = ""
    writers: Sequence[Mapping[str, Any]] = ()
    stored: tuple[StoredWriter, ...] = ()
    of_category: str | None = None
    writer_texts: Mapping[str, str] = field(default_factory=dict)
    plugins: tuple[str, ...] = ()


def read_learned(given: str | None, runs: Path, cwd: Path, root: Path) -> Learned:
    """Return what the run has learned that ``given`` names, or what the agent's file contains that ``given`` names.

    Args:
        given: an agent's file, the path of a run's folder, or the id of a run in ``runs``; None for the latest finished
            run.
        cwd: folder to which a relative path in ``given`` refers.
        root: folder of the applications; an agent's file is combined with the curriculum in this folder.

    Raises:
        ResumeError: the run does not exist or cannot be read.
        SettingsError: the policy for generated code forbids running an agent.
        FileError: the agent's file cannot be read.
    """
    path = cwd / (given or "")
    folder: RunFolder | None = None
    if given and (given.endswith(".py") or path.is_file()):
        text = escape_code(read_text(path))
        curriculum_text = read_text(root / "merged_curriculum2.json")
        files = LearnedFiles({"settings": {}}, {}, (), curriculum_text, {"": ""}, {"": text})
        source = given
    else:
        folder = RunFolder.find_learned(given, runs, cwd)
        files = folder.read_learned()
        source = folder.run_id
        require_plugins(files.info, f"run {source}")
        path = folder.path

    settings = files.info["settings"]
    world = settings.get("world", MINIGRID)
    if not isinstance(world, str):
        raise ResumeError(f"{source} cannot be read: its world is no text")
    body = find_body(world)
    require_same_body(files.info, body, f"run {source}")
    agents: dict[str, AgentSource] = {}
    for category, name in files.agents.items():
        agents[category] = AgentSource(files.texts[name])
    for category, agent in agents.items():
        try:
            # An agent that every episode would refuse is refused before the first one.
            policy.check_agent(agent, body.interface)
        except PatchError as error:
            fault = str(error).partition("\n")[0]
            raise SettingsError(f"--agent {path / files.agents[category]}: {fault}") from error

    only = [settings[name] for name in ("only", "levels") if settings.get(name) is not None]
    curriculum = parse(files.curriculum, source).play_in(world)
    selected = curriculum.select(start_category=settings.get("start_category"), only=only).tasks()
    warning = ""
    if folder is not None and len(files.finished) < len(selected):
        warning = f"{source} has learned {len(files.finished)} of {len(selected)} levels so far"
    # If several categories have libraries of their own (more than "" and one category), the kept writers fit the
    # library of the last category only.
    writers = files.state.get("writers", ()) if len(agents) <= 2 else ()
    categories = tuple(dict.fromkeys(summary["level"]["category"] for summary in files.finished))
    of_category = None if settings.get("carry_over", True) else files.state["category"]
    writer_files = WriterFiles(folder, writers) if folder else None
    return Learned(
        source=source,
        agents=agents,
        text=files.curriculum,
        curriculum=curriculum,
        tasks=curriculum.tasks(),
        categories=categories,
        settings=settings,
        warning=warning,
        writers=writers,
        stored=writer_files.stored if writer_files else (),
        of_category=of_category,
        writer_texts=writer_files.read_texts() if writer_files else {},
        plugins=tuple(plugin["name"] for plugin in files.info.get(PLUGINS, ())),
    )
