"""The folder of an evaluation: all that it needs to go on, wherever it was killed, and its results.

::

    runs/<id>/
      evaluation.json       settings, what was frozen, versions, when it ended
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
from spca.common.files import LARGEST, make_folder, read_text, write_atomic
from spca.contracts import AgentSource
from spca.errors import PatchError, ResumeError
from spca.evaluation.learned import Learned
from spca.evaluation.seeds import Seeds
from spca.runs.recording.folder import RunFolder, existing, new_run_id
from spca.runs.recording.records import WRITERS, check_record
from spca.runs.recording.writer_files import WriterFiles
from spca.runs.settings import Settings
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
    """What decides the results of an evaluation.

    Attributes:
        agent: id of the run, or file of the agent.
        planner_model: asked where no stored writer has a plan; ``none`` for writers alone.
        planning: settings of that model, as a run's.
        versus: ``bot`` to have the bot of BabyAI play the same episodes.
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

    def record(self) -> dict[str, Any]:
        """Return what ``evaluation.json`` holds of them."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {**values, "seeds": self.seeds.text, "planning": self.planning.record()}


@dataclass(frozen=True, slots=True)
class EvaluationFolder:
    """Files of one evaluation.

    Attributes:
        path: of the folder, which exists.
        settings: what decides the results.
        record: all of ``evaluation.json``.
    """

    path: Path
    settings: EvaluationSettings
    record: Mapping[str, Any]

    @classmethod
    def create(cls, runs: Path, settings: EvaluationSettings, learned: Learned, made_with: Mapping[str, Any]) -> Self:
        """Make a new folder; it is one of an evaluation once ``evaluation.json`` is there.

        Raises:
            SettingsError: ``runs`` cannot be written to.
        """
        path = runs / new_run_id()
        record = {"id": path.name, "settings": settings.record(), **made_with}
        writers = {"writers": list(learned.writers), "of_category": learned.of_category}
        agents = {category: agent.text for category, agent in learned.agents.items()}
        texts = {
            "frozen/agent.py": agents[""],
            _AGENTS: _write_object(agents),
            _CURRICULUM: learned.text,
            **{f"frozen/{name}": text for name, text in learned.writer_texts.items()},
            _WRITERS: _write_object(writers),
            RECORD: _write_object(record),
        }
        for folder in (runs, path / "frozen", path / "state"):
            make_folder(folder)
        for name, text in texts.items():
            make_folder((path / name).parent)
            write_atomic(path / name, text)
        return cls(path, settings, record)

    @classmethod
    def find(cls, runs: Path, name: str) -> Self:
        """Return the folder of an earlier evaluation.

        Raises:
            ResumeError: there is none of this name, or it cannot be read.
        """
        return cls.load(existing(runs, name, RECORD))

    @classmethod
    def load(cls, path: Path) -> Self:
        """Return the evaluation in a folder.

        Raises:
            ResumeError: it cannot be read, or is of another version.
        """
        record = _read_object(path / RECORD, settings=dict, versions=dict, sandbox=str)
        recorded = record["settings"]
        if set(recorded) != {field.name for field in fields(EvaluationSettings)}:
            raise ResumeError(f"{path} was begun by another version of this program: begin a new evaluation")
        try:
            settings = TypeAdapter(EvaluationSettings).validate_json(json.dumps(recorded), strict=True)
        except ValidationError as error:
            fault = error.errors()[0]
            raise ResumeError(f"{path / RECORD}: {fault['loc'][0]}: {fault['msg']}") from error
        return cls(path, settings, record)

    @property
    def id(self) -> str:
        return self.path.name

    @property
    def began(self) -> float | None:
        """When it began, in seconds since the epoch, as its id tells; None if that is another name."""
        try:
            return float(calendar.timegm(time.strptime(self.id[:15], "%Y%m%d-%H%M%S")))
        except ValueError:
            return None

    @property
    def is_finished(self) -> bool:
        return (self.path / SUMMARY).is_file()

    def summary(self) -> dict[str, Any]:
        """Return ``summary.json``.

        Raises:
            ResumeError: it cannot be read.
        """
        return _read_object(self.path / SUMMARY)

    def change(self, settings: EvaluationSettings, record: Mapping[str, Any]) -> Self:
        """Record what an evaluation goes on with, and return it.

        Args:
            record: ``evaluation.json`` but for the settings.

        Raises:
            SettingsError: it cannot be written.
        """
        changed = {**record, "settings": settings.record()}
        if changed != self.record:
            self.write(RECORD, _write_object(changed))
        return replace(self, settings=settings, record=changed)

    def agents(self) -> dict[str, AgentSource]:
        """Return the frozen agents by category; "" is that of all other categories.

        Raises:
            ResumeError: they cannot be read, or must not be run.
        """
        try:
            agents = {category: AgentSource(text) for category, text in self.agent_texts().items()}
            for agent in agents.values():
                policy.check_agent(agent)
        except (AttributeError, PatchError) as error:
            fault = str(error).partition("\n")[0]
            raise ResumeError(f"{self.path / _AGENTS} cannot be used: {fault}") from error
        return agents

    def agent_texts(self) -> dict[str, str]:
        """Return the texts of the frozen agents by category.

        Raises:
            ResumeError: they cannot be read.
        """
        return _read_object(self.path / _AGENTS, **{"": str})

    def writers(self) -> tuple[tuple[StoredWriter, ...], str | None]:
        """Return the frozen problem writers, and the only category that they are for; None for all.

        Raises:
            ResumeError: they cannot be read.
        """
        kept = _read_object(self.path / _WRITERS, writers=list)
        check_record(WRITERS, kept["writers"], self.path / _WRITERS, "writers")
        stored = WriterFiles(RunFolder(self.path / "frozen"), kept["writers"]).stored
        return stored, kept.get("of_category")

    @property
    def curriculum(self) -> Path:
        return self.path / _CURRICULUM

    def finish(self, summary: Mapping[str, Any]) -> None:
        """Write when it ended, then the summary, which makes the evaluation final.

        Raises:
            SettingsError: it cannot be written.
        """
        self.write(RECORD, _write_object({**self.record, "ended": round(time.time(), 3)}))
        self.write(SUMMARY, _write_object(summary))

    def write(self, name: str, text: str) -> None:
        """Write a file of results.

        Raises:
            SettingsError: it cannot be written.
        """
        write_atomic(self.path / name, text)


def _write_object(value: object) -> str:
    return json_text(value, indent=1) + "\n"


def _read_object(path: Path, **kinds: type) -> dict[str, Any]:
    """Return an object that has such values."""
    try:
        value = json.loads(read_text(path, LARGEST))
        if not isinstance(value, dict) or not all(isinstance(value.get(key), kinds[key]) for key in kinds):
            raise ValueError("it is incomplete")
    except SPCAError as error:
        raise ResumeError(str(error)) from error
    except (ValueError, RecursionError) as error:
        raise ResumeError(f"{path} cannot be read: {error}") from error
    return value
