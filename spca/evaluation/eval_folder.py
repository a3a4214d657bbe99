"""The folder of an evaluation: all that it needs to go on, wherever it was killed, and its results.

::

    runs/<id>/
      evaluation.json       settings, what was frozen, versions
      episodes.jsonl        a line per episode, when all are played
      proofs.jsonl          what a search with full information found of those that failed
      bot.jsonl             how the bot of BabyAI did, if it was asked for
      summary.json          figures; written last
      report.html           the page
      frozen/               agents by category, curriculum and writers as they were when it began
      state/                journals of what is finished, until the results are written
      calls.jsonl, llm/     requests to a model that was named, as in a run
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import PlainValidator, TypeAdapter, ValidationError

from spca.code.policy import check as policy
from spca.common.encoding import json_text
from spca.common.errors import SPCAError
from spca.common.files import LARGEST, make_folder, read_text, write_atomic
from spca.contracts import AgentSource
from spca.errors import PatchError, ResumeError
from spca.evaluation.learned import Learned
from spca.evaluation.seeds import read_seeds
from spca.runs.recording.folder import RunFolder, existing, new_run_id
from spca.runs.recording.records import WRITERS, check_record
from spca.runs.recording.writer_files import WriterFiles
from spca.runs.settings import Settings
from spca.writers.stored import StoredWriter

RECORD: Final = "evaluation.json"
SUMMARY: Final = "summary.json"
REPORT: Final = "report.html"
_AGENTS: Final = "frozen/agents.json"
_WRITERS: Final = "frozen/writers.json"
_CURRICULUM: Final = "frozen/curriculum.json"


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """What decides the results of an evaluation.

    Attributes:
        agent: id of the run, or file of the agent.
        planner_model: asked where no stored writer has a plan; ``none`` for writers alone.
        planning: settings of that model, as a run's.
        versus: ``bot`` to have the bot of BabyAI play the same episodes.
    """

    agent: str
    seeds: str
    planner_model: str
    planning: Annotated[Settings, PlainValidator(partial(Settings.from_record, kind="evaluation"))]
    categories: str | None = None
    ids: str | None = None
    outside: bool = False
    attempts: int = 1
    versus: str | None = None
    rename_words: int | None = None
    upstream_rules: bool = False

    def record(self) -> dict[str, Any]:
        """Return what ``evaluation.json`` holds of them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, "planning": self.planning.record()}


class EvaluationFolder:
    """Files of one evaluation; ``path`` exists."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.id = path.name

    @classmethod
    def create(cls, runs: Path, settings: EvaluationSettings, learned: Learned, made_with: Mapping[str, Any]) -> Self:
        """Make a new folder; it is one of an evaluation once ``evaluation.json`` is there.

        Raises:
            SettingsError: ``runs`` cannot be written to.
        """
        make_folder(runs)
        folder = cls(runs / new_run_id())
        for name in ("frozen", "state"):
            make_folder(folder.path / name)
        write_atomic(folder.path / "frozen/agent.py", learned.agents[""].text)
        folder._write(_AGENTS, {category: agent.text for category, agent in learned.agents.items()})
        write_atomic(folder.path / _CURRICULUM, learned.curriculum)
        if learned.folder is not None:
            for name in learned.writer_files():
                copied = folder.path / "frozen" / name
                make_folder(copied.parent)
                write_atomic(copied, RunFolder(learned.folder).read_text(name))
        folder._write(_WRITERS, {"writers": list(learned.writers), "of_category": learned.of_category})
        folder._write(RECORD, {"id": folder.id, "settings": settings.record(), **made_with})
        return folder

    @classmethod
    def open(cls, runs: Path, name: str) -> Self:
        """Return the folder of an earlier evaluation.

        Raises:
            ResumeError: there is none of this name.
        """
        return cls(existing(runs, name, RECORD))

    @property
    def is_finished(self) -> bool:
        return (self.path / SUMMARY).is_file()

    def record(self) -> dict[str, Any]:
        """Return ``evaluation.json``.

        Raises:
            ResumeError: it cannot be read.
        """
        return self._read(RECORD, settings=dict, versions=dict, sandbox=str)

    def summary(self) -> dict[str, Any]:
        """Return ``summary.json``.

        Raises:
            ResumeError: it cannot be read.
        """
        return self._read(SUMMARY)

    def settings(self) -> EvaluationSettings:
        """Return what the evaluation was begun with.

        Raises:
            ResumeError: it cannot be read, or is of another version.
        """
        recorded = self.record()["settings"]
        if set(recorded) != {field.name for field in fields(EvaluationSettings)}:
            raise ResumeError(f"{self.path} was begun by another version of this program: begin a new evaluation")
        try:
            settings = TypeAdapter(EvaluationSettings).validate_json(json.dumps(recorded), strict=True)
            read_seeds(settings.seeds)
        except ValidationError as error:
            fault = error.errors()[0]
            raise ResumeError(f"{self.path / RECORD}: {fault['loc'][0]}: {fault['msg']}") from error
        except ValueError as error:
            raise ResumeError(f"{self.path / RECORD}: {error}") from error
        return settings

    def change(self, settings: EvaluationSettings, record: Mapping[str, Any]) -> None:
        """Record what an evaluation goes on with.

        Args:
            record: ``evaluation.json`` but for the settings.

        Raises:
            SettingsError: it cannot be written.
        """
        changed = {**record, "settings": settings.record()}
        if changed != self.record():
            self._write(RECORD, changed)

    def agents(self) -> dict[str, AgentSource]:
        """Return the frozen agents by category; "" is that of all other categories.

        Raises:
            ResumeError: they cannot be read, or must not be run.
        """
        texts = self._read(_AGENTS, **{"": str})
        try:
            agents = {category: AgentSource(text) for category, text in texts.items()}
            for agent in agents.values():
                policy.check_agent(agent)
        except (AttributeError, PatchError) as error:
            fault = str(error).partition("\n")[0]
            raise ResumeError(f"{self.path / _AGENTS} cannot be used: {fault}") from error
        return agents

    def writers(self) -> tuple[tuple[StoredWriter, ...], str | None]:
        """Return the frozen problem writers, and the only category that they are for; None for all.

        Raises:
            ResumeError: they cannot be read.
        """
        kept = self._read(_WRITERS, writers=list)
        check_record(WRITERS, kept["writers"], self.path / _WRITERS, "writers")
        stored = WriterFiles(RunFolder(self.path / "frozen"), kept["writers"]).stored
        return stored, kept.get("of_category")

    @property
    def curriculum(self) -> Path:
        return self.path / _CURRICULUM

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write the summary, which makes the evaluation final.

        Raises:
            SettingsError: it cannot be written.
        """
        self._write(SUMMARY, summary)

    def write(self, name: str, text: str) -> None:
        """Write a file of results.

        Raises:
            SettingsError: it cannot be written.
        """
        write_atomic(self.path / name, text)

    def _write(self, name: str, value: object) -> None:
        self.write(name, json_text(value, indent=1) + "\n")

    def _read(self, name: str, **kinds: type) -> dict[str, Any]:
        """Return an object that has such values."""
        try:
            value = json.loads(read_text(self.path / name, LARGEST))
            if not isinstance(value, dict) or not all(isinstance(value.get(key), kinds[key]) for key in kinds):
                raise ValueError("it is incomplete")
        except SPCAError as error:
            raise ResumeError(str(error)) from error
        except (ValueError, RecursionError) as error:
            raise ResumeError(f"{self.path / name} cannot be read: {error}") from error
        return value
