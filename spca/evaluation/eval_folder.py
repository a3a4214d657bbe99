"""The folder of an evaluation: its results, and all files that an interrupted evaluation needs to continue.

::

    runs/<id>/
      evaluation.json       settings, versions, time of the end
      episodes.jsonl        one line for each episode, written when all episodes are played
      proofs.jsonl          one line for each failed episode: the verdict of a search with full information
      bot.jsonl             one line for each episode that the bot of BabyAI played, if the user asked for this
      summary.json          figures; written last
      report.html           the page
      frozen/               copies, made at the start: agents by category, the curriculum, the writers
      state/                journals of the finished episodes, kept until the results are written
      calls.jsonl, llm/     requests to the planner model, in the format of a run
"""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import PlainValidator, TypeAdapter, ValidationError

from spca.code.policy import check as policy
from spca.common.encoding import json_text
from spca.common.errors import SPCAError
from spca.common.files import MAX_RUN_FILE_BYTES, make_folder, read_text, write_atomic
from spca.contracts import AgentSource
from spca.errors import PatchError, ResumeError
from spca.evaluation.learned import Learned
from spca.evaluation.seeds import Seeds
from spca.runs.recording.folder import RunFolder, existing, new_run_id
from spca.runs.recording.records import WRITERS, check_record
from spca.runs.recording.writer_files import WriterFiles
from spca.runs.settings import Settings
from spca.sense.renaming import Renaming
from spca.writers.stored import StoredWriter

RECORD: Final = "evaluation.json"
SUMMARY: Final = "summary.json"
REPORT: Final = "report.html"
CALLS: Final = "calls.jsonl"
_AGENTS: Final = "frozen/agents.json"
_WRITERS: Final = "frozen/writers.json"
_CURRICULUM: Final = "frozen/curriculum.json"


@dataclass(frozen=True, slots=True)
class EvaluationSettings:
    """The settings that determine the results of an evaluation.

    Attributes:
        agent: id of the run, or path of the agent's file.
        planner_model: the model that is asked when no stored writer has a plan; ``none`` if no model is asked.
        planning: settings of ``planner_model``, in the form of a run's settings.
        versus: ``bot`` if the bot of BabyAI plays the same episodes; else None.
    """

    agent: str
    seeds: Annotated[Seeds, PlainValidator(Seeds.read)]
    planner_model: str
    planning: Annotated[Settings, PlainValidator(partial(Settings.from_record, kind="evaluation"))]
    categories: str | None = None
    ids: str | None = None
    outside: bool = False
    attempts: int = 1
    versus: str | None = None
    rename_words: int | None = None
    upstream_rules: bool = False

    @property
    def renaming(self) -> Renaming:
        """The renaming of words for models and generated code."""
        return replace(self.planning, rename_words=self.rename_words).renaming

    def record(self) -> dict[str, Any]:
        """Return the settings as ``evaluation.json`` stores them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, "seeds": self.seeds.text, "planning": self.planning.record()}


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """Files of one evaluation.

    Attributes:
        path: the existing folder.
        settings: the settings that determine the results.
        record: the content of ``evaluation.json``.
    """

    path: Path
    settings: EvaluationSettings
    record: Mapping[str, Any]

    @classmethod
    def create(cls, runs: Path, settings: EvaluationSettings, learned: Learned, made_with: Mapping[str, Any]) -> Self:
        """Create and return the folder of a new evaluation in ``runs``; see :meth:`create_at`.

        Raises:
            SettingsError: ``runs`` cannot be written to.
        """
        path = runs / new_run_id()
        for folder in (runs, path / "state"):
            make_folder(folder)
        return cls.create_at(path, settings, learned, made_with)

    @classmethod
    def create_at(
        cls, path: Path, settings: EvaluationSettings, learned: Learned, made_with: Mapping[str, Any]
    ) -> Self:
        """Create the folder ``path`` with copies of what a run has learned, and return it.

        ``evaluation.json`` is written last, because a folder without this file does not count as an evaluation.

        Args:
            made_with: versions, hashes and sandbox, to be stored in ``evaluation.json``.

        Raises:
            SettingsError: the folder cannot be written to.
        """
        record = {"id": path.name, "settings": settings.record(), **made_with}
        writers = {"writers": list(learned.writers), "of_category": learned.of_category}
        agents = {category: agent.text for category, agent in learned.agents.items()}

        # In the order of writing: the record, which completes the folder, is the last file.
        texts = {"frozen/agent.py": agents[""], _AGENTS: _format_json(agents), _CURRICULUM: learned.text}
        for name, text in learned.writer_texts.items():
            texts[f"frozen/{name}"] = text
        texts[_WRITERS] = _format_json(writers)
        texts[RECORD] = _format_json(record)

        for name, text in texts.items():
            make_folder((path / name).parent)
            write_atomic(path / name, text)
        return cls(path, settings, record)

    @classmethod
    def find(cls, runs: Path, name: str) -> Self:
        """Return the folder of an earlier evaluation in ``runs``.

        Args:
            name: the evaluation's id, or a unique beginning of the id.

        Raises:
            ResumeError: there is no evaluation of this name, or the evaluation cannot be read.
        """
        return cls.load(existing(runs, name, RECORD))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the evaluation whose folder is ``path``.

        Raises:
            ResumeError: the evaluation cannot be read, or another version of the program began it.
        """
        record = _read_object(path / RECORD, settings=dict, versions=dict, sandbox=str)
        recorded = record["settings"]
        if set(recorded) != {field.name for field in fields(EvaluationSettings)}:
            raise ResumeError(f"{path} was begun by another version of this program: begin a new evaluation")
        try:
            settings = TypeAdapter(EvaluationSettings).validate_json(json.dumps(recorded), strict=True)
        except ValidationError as error:
            fault = error.errors()[0]
            field_name = fault["loc"][0]
            raise ResumeError(f"{path / RECORD}: {field_name}: {fault['msg']}") from error
        return cls(path, settings, record)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def began(self) -> float | None:
        """Time at which the evaluation began, in seconds since the epoch, as read from its id; None if the id has no
        time.
        """
        try:
            return float(calendar.timegm(time.strptime(self.id[:15], "%Y%m%d-%H%M%S")))
        except ValueError:
            return None

    @property
    def is_finished(self) -> bool:
        return (self.path / SUMMARY).is_file()

    def summary(self) -> dict[str, Any]:
        """Return the content of ``summary.json``.

        Raises:
            ResumeError: ``summary.json`` cannot be read.
        """
        return _read_object(self.path / SUMMARY)

    def change(self, settings: EvaluationSettings, record: Mapping[str, Any]) -> Self:
        """Write new settings and a new record to ``evaluation.json``, and return the changed folder.

        Args:
            record: the new content of ``evaluation.json``, in which ``settings`` replaces the settings.

        Raises:
            SettingsError: ``evaluation.json`` cannot be written.
        """
        changed = {**record, "settings": settings.record()}
        if changed != self.record:
            self.write(RECORD, _format_json(changed))
        return replace(self, settings=settings, record=changed)

    def agents(self) -> dict[str, AgentSource]:
        """Return the frozen agents by category; the key "" stands for all other categories.

        Raises:
            ResumeError: an agent cannot be read, or the policy for generated code forbids running it.
        """
        agents: dict[str, AgentSource] = {}
        try:
            for category, text in self.agent_texts().items():
                agents[category] = AgentSource(text)
            for agent in agents.values():
                policy.check_agent(agent, self.settings.planning.body.interface)
        except (AttributeError, PatchError) as error:
            fault = str(error).partition("\n")[0]
            raise ResumeError(f"{self.path / _AGENTS} cannot be used: {fault}") from error
        return agents

    def agent_texts(self) -> dict[str, str]:
        """Return the source texts of the frozen agents by category; the key "" stands for all other categories.

        Raises:
            ResumeError: the file of the frozen agents cannot be read.
        """
        return _read_object(self.path / _AGENTS, **{"": str})

    def writers(self) -> tuple[tuple[StoredWriter, ...], str | None]:
        """Return the frozen problem writers, and the only category that they may plan for (None for all categories).

        Raises:
            ResumeError: the file of the frozen writers cannot be read.
        """
        record = _read_object(self.path / _WRITERS, writers=list)
        check_record(WRITERS, record["writers"], self.path / _WRITERS, "writers")
        stored = WriterFiles(RunFolder(self.path / "frozen"), record["writers"]).stored
        return stored, record.get("of_category")

    @property
    def curriculum(self) -> Path:
        return self.path / _CURRICULUM

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Record the time of the end, then write the summary, which marks the evaluation as finished.

        Raises:
            SettingsError: a file cannot be written.
        """
        ended = round(time.time(), 3)
        self.write(RECORD, _format_json({**self.record, "ended": ended}))
        self.write(SUMMARY, _format_json(summary))

    def write(self, name: str, text: str) -> None:
        """Write a file into the folder.

        Raises:
            SettingsError: the file cannot be written.
        """
        write_atomic(self.path / name, text)


def _format_json(value: object) -> str:
    return json_text(value, indent=1) + "\n"


def _read_object(path: Path, **kinds: type) -> dict[str, Any]:
    """Return the JSON object in a file.

    Args:
        kinds: keys that the object must have, each with the type of its value.

    Raises:
        ResumeError: the file cannot be read, is not a JSON object, or lacks a key with a value of the right type.
    """
    try:
        value = json.loads(read_text(path, MAX_RUN_FILE_BYTES))
        if not isinstance(value, dict):
            raise ValueError("it is incomplete")
        for key, kind in kinds.items():
            if not isinstance(value.get(key), kind):
                raise ValueError("it is incomplete")
    except SPCAError as error:
        raise ResumeError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {error}") from error
    return value
