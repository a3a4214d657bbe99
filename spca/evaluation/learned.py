"""What a run has learned, as an evaluation freezes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spca.code.policy import check as policy
from spca.common.errors import SettingsError
from spca.common.files import read_text
from spca.common.text import escaped_code
from spca.contracts import AgentSource
from spca.errors import PatchError
from spca.runs.curriculum import Curriculum, Task, parse
from spca.runs.recording.folder import LearnedFiles, RunFolder
from spca.runs.recording.writer_files import WriterFiles


@dataclass(frozen=True, slots=True)
class Learned:
    """An agent and what it was learned with.

    Attributes:
        source: id of the run, or the file of the agent.
        agents: by category; "" is that of all other categories.
        text: of the curriculum's file.
        curriculum: what that text says.
        tasks: all of its levels.
        categories: those of its levels that were learned, in order; () for a file.
        settings: of the run, {} for a file.
        warning: that the run has levels to come, "" if it has none.
        writers: what the run's state says of its problem writers.
        of_category: the only category that these are for; None for all. A run in which each category has a library of
            its own keeps the writers of its last category only.
        writer_texts: of the files that they need, by name.
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
    of_category: str | None = None
    writer_texts: Mapping[str, str] = field(default_factory=dict)


def read_learned(given: str | None, runs: Path, cwd: Path, root: Path) -> Learned:
    """Return what ``given`` means: a file of an agent, a run's folder, a run of ``runs``; None: the latest finished.

    Args:
        root: folder of the applications, whose curriculum goes with a file.

    Raises:
        ResumeError: there is no such run, or it cannot be read.
        SettingsError: an agent must not be run.
        FileError: it cannot be read.
    """
    path = cwd / (given or "")
    folder: RunFolder | None = None
    if given and (given.endswith(".py") or path.is_file()):
        text = escaped_code(read_text(path))
        files = LearnedFiles({"settings": {}}, {}, read_text(root / "merged_curriculum2.json"), {"": ""}, {"": text})
        source = given
    else:
        folder = RunFolder.find_learned(given, runs, cwd)
        files = folder.read_learned()
        source = folder.run_id
        path = folder.path

    agents = {category: AgentSource(files.texts[name]) for category, name in files.agents.items()}
    for category, agent in agents.items():
        try:
            policy.check_agent(agent)  # what would be refused in every episode is told at once
        except PatchError as error:
            fault = str(error).partition("\n")[0]
            raise SettingsError(f"--agent {path / files.agents[category]}: {fault}") from error

    settings = files.info["settings"]
    only = [settings[name] for name in ("only", "levels") if settings.get(name) is not None]
    curriculum = parse(files.curriculum, source)
    selected = curriculum.select(start_category=settings.get("start_category"), only=only).tasks()
    finished = files.state.get("finished", ())
    warning = ""
    if folder is not None and len(finished) < len(selected):
        warning = f"{source} has learned {len(finished)} of {len(selected)} levels so far"
    # The writers of the last category fit no other library.
    writers = files.state.get("writers", ()) if len(agents) <= 2 else ()
    categories = tuple(dict.fromkeys(summary["level"]["category"] for summary in finished))
    of_category = None if settings.get("carry_over", True) else files.state["category"]
    writer_texts = WriterFiles(folder, writers).read_texts() if folder else {}
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
        of_category=of_category,
        writer_texts=writer_texts,
    )
