"""``main.py ablations``: the same levels learned in full and without each part, then played frozen on unseen seeds.

A study is a folder. Each setting learns in a folder of its own below it, and what is finished there is not done again::

    runs/<id>/
      study.json            what was asked for
      curriculum.json       the levels
      ablations.json        the table so far, as data
      ablations.md          the same for people
      full/                 a run and an evaluation of it, and so for the other settings
      no-curriculum/NAME/   the same of one category: what is not carried over is a run of its own
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from spca.common.debug_log import log_to_folder
from spca.common.encoding import json_text
from spca.common.environment import load_environment
from spca.common.errors import SettingsError, UnusableModelError
from spca.common.files import lock_folder, make_folder, remove_torn_files, write_atomic
from spca.common.installation import applications, find_runs
from spca.common.text import format_count
from spca.errors import ResumeError
from spca.evaluation.ablations import table
from spca.evaluation.ablations.options import DEFAULT_SEEDS, FULL, SETTINGS, StudyOptions
from spca.evaluation.ablations.table import AblationRow
from spca.evaluation.eval_folder import RECORD, SUMMARY
from spca.evaluation.options import (
    EMBEDDED,
    NO_MODEL,
    EpisodeOptions,
    EvaluateOptions,
    HowOptions,
    PlannerOptions,
)
from spca.evaluation.resolution import require_one_process
from spca.evaluation.seeds import Seeds
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import format_servers
from spca.report.read.origin import describe_origin
from spca.runs import curriculum
from spca.runs.curriculum import Curriculum
from spca.runs.options import (
    AblationOptions,
    CapOptions,
    KeptOptions,
    ModelOptions,
    RunOptions,
    ServerOptions,
    SolverOptions,
)
from spca.runs.provenance import source_info
from spca.runs.recording.folder import Begun, RunFolder, existing, new_run_id
from spca.runs.resolution import find_run, resolve_models, resolve_settings
from spca.runs.settings import Settings

RECORD_OF_STUDY: Final = "study.json"
TABLE: Final = "ablations"
_CURRICULUM: Final = "curriculum.json"
_BARE: Final = "bare-prompt"

Learn = Callable[[Settings, Begun | None, bool], object]
"""Learns with settings, or goes on with a run; told whether models and sandbox are told of first."""
Evaluate = Callable[[EvaluateOptions], object]
"""The command ``evaluate``."""


def begin_study(options: StudyOptions) -> Path:
    """Return the folder of a new study, once nothing speaks against it.

    Raises:
        UserError: an option that cannot be meant.
    """
    environ = load_environment(options.models.where.servers)
    learning = resolve_settings(
        RunOptions(
            selection=options.selection,
            ablations=AblationOptions(rename_words=options.rename_words),
            models=options.models,
            solver=options.solver,
            display=options.display,
        ),
        environ,
    )
    levels = curriculum.load(Path(learning.curriculum)).select(
        start_category=learning.start_category, only=learning.only
    )
    reads_prompts = learning.models.embedded != learning.models.refs
    if _BARE in (options.settings or ()) and not reads_prompts:
        raise SettingsError(f"--settings {_BARE}: {learning.models.planner} does not read prompts: leave {_BARE} out")

    usable = [name for name in SETTINGS if name != _BARE or reads_prompts]
    text = _write_levels(levels)
    record = {
        "settings": list(options.settings or usable),
        "seeds": str(options.seeds or DEFAULT_SEEDS),
        "frozen_planner": _choose_frozen_planner(options, environ),
        "options": learning.record(),
        "source": source_info(learning, applications(), text),
    }
    path = find_runs(options.runs) / new_run_id()
    make_folder(path)
    write_atomic(path / _CURRICULUM, text)
    write_atomic(path / RECORD_OF_STUDY, json_text(record, indent=1) + "\n")
    return path


def resume_study(options: StudyOptions, name: str) -> Path:
    """Return the folder of a study to go on with.

    Raises:
        ResumeError: there is none of this name, or an option was chosen when it began.
    """
    path = existing(find_runs(options.runs), name, RECORD_OF_STUDY)
    selection = options.selection
    models = options.models
    chosen = {
        "--settings": options.settings,
        "--seeds": options.seeds,
        "--frozen-planner": options.frozen_planner,
        "--rename-words": options.rename_words,
        "--start-category": selection.start_category,
        "--only": selection.only,
        "--seed": selection.seed,
        "--upstream-rules": selection.upstream_rules,
        "--curriculum": selection.curriculum,
        "--planner-model": models.planner_model,
        "--planner-small-model": models.planner_small_model,
        "--coder-model": models.coder_model,
        "--planner-effort": models.planner_effort,
        "--planner-small-effort": models.planner_small_effort,
        "--coder-effort": models.coder_effort,
        "--engine": options.solver.engine,
        "--unsafe-no-sandbox": options.solver.unsafe_no_sandbox,
    }
    for flag, value in chosen.items():
        if value not in (None, False, ()):
            raise ResumeError(f"{flag} was chosen when the study began: leave it out")
    return path


def _choose_frozen_planner(options: StudyOptions, environ: Mapping[str, str]) -> str:
    """Return who plans where no writer does, once nothing speaks against it: that would be told late."""
    model = options.frozen_planner or (EMBEDDED if options.rename_words is None else NO_MODEL)
    require_one_process(options.workers, model)
    if model == NO_MODEL:
        return model
    is_embedded = ModelRef.parse(model).is_embedded
    coder = "reference/coder" if is_embedded else model
    asked = ModelOptions(planner_model=model, planner_small_model=model, coder_model=coder)
    ablations = AblationOptions(rename_words=options.rename_words)
    return str(resolve_settings(RunOptions(models=asked, ablations=ablations), environ).models.planner)


def _write_levels(levels: Curriculum) -> str:
    names = {"name": "category_name"}
    categories = [{names.get(key, key): value for key, value in asdict(each).items()} for each in levels.categories]
    return json_text(categories, indent=1) + "\n"


def _take_away(learning: Settings, name: str) -> Settings:
    """Return the settings of learning without the part that a flag names."""
    changed = {
        FULL: learning,
        "no-compile": replace(learning, compile=False),
        "no-reuse": replace(learning, reuse=False),
        "no-regression-check": replace(learning, regression_check=False),
        "no-curriculum": replace(learning, carry_over=False),
        _BARE: replace(learning, bare_prompt=True),
    }
    return changed[name]


@dataclass(frozen=True, slots=True)
class Part:
    """What one run of a setting learns, in a folder of its own: everything, or one category."""

    folder: Path
    settings: Settings
    category: str | None = None

    @property
    def run(self) -> Path | None:
        """The folder of its run, None before there is one."""
        return _find_holding(self.folder, "run.json")

    @property
    def evaluation(self) -> Path | None:
        """The folder of its evaluation, None before there is one."""
        return _find_holding(self.folder, RECORD)


class Study:
    """Learns and plays what is left of a study.

    Args:
        path: its folder.
        learn: learns a part.
        evaluate: plays what a part has learned.
        options: caps, servers and the like may differ from those that it was begun with.
    """

    def __init__(self, path: Path, learn: Learn, evaluate: Evaluate, options: StudyOptions) -> None:
        self._path = path
        self._learn = learn
        self._evaluate = evaluate
        self._options = options
        self._has_greeted = False
        self._record = RunFolder(path).read_json(RECORD_OF_STUDY)
        self._learning = self._read_learning()
        self._parts = {name: tuple(self._list_parts(name)) for name in self._record["settings"]}

    def run(self) -> tuple[AblationRow, ...]:
        """Finish the study and return its rows; the tables are written after each."""
        rows: list[AblationRow] = []
        with lock_folder(self._path, "study"), log_to_folder(self._path):
            remove_torn_files(self._path, ".*.tmp")
            for name, parts in self._parts.items():
                learned = [self._learn_part(part) for part in parts]
                played = [self._play_part(part) for part in parts]
                rows.append(AblationRow.sum_runs(name, learned, played))
                self._write(rows)
        return tuple(rows)

    def list_report_arguments(self) -> list[str]:
        """Return the command that shows a finished study: two of its runs side by side, or one where there is one."""
        alone = [parts[0].run for parts in self._parts.values() if len(parts) == 1]
        runs = [str(run) for run in alone if run is not None][:2]
        if len(runs) == 2:
            return ["report", "--compare", *runs]
        return ["report", *(runs or [str(self._path / next(iter(self._parts)))])]

    def _read_learning(self) -> Settings:
        """Return the settings of learning in full, with the caps and servers of today."""
        learning = Settings.from_record(self._record["options"], "study")
        said = self._options.models
        environ = load_environment((*said.where.servers, *learning.models.key_variables))
        models = resolve_models(said, environ, Path.cwd(), learning.models)
        return replace(
            learning,
            models=models,
            curriculum=str(self._path / _CURRICULUM),
            start_category=None,
            only=(),
            render=self._options.display.render,
            quiet=self._options.display.quiet,
        )

    def _list_parts(self, name: str) -> Iterator[Part]:
        settings = _take_away(self._learning, name)
        if settings.carry_over:
            yield self._place_part(self._path / name, settings)
            return
        for category in curriculum.load(self._path / _CURRICULUM).categories:
            yield self._place_part(self._path / name / category.name, settings, category.name)

    def _place_part(self, folder: Path, settings: Settings, category: str | None = None) -> Part:
        workspace = str(folder / "workspace")
        return Part(
            folder,
            replace(settings, runs=str(folder), workspace=workspace, only=(category,) if category else ()),
            category,
        )

    def _learn_part(self, part: Part) -> dict[str, Any]:
        """Return the summary of a part's run once it is finished."""
        summary = _read_summary(part.run)
        if summary is not None and summary["finished"] == summary["levels"]:
            return summary

        if not self._has_greeted:
            runs = format_count(sum(map(len, self._parts.values())), "run")
            print(f"study {self._path.name}: {runs}; a cap holds for each of them, and for each evaluation", flush=True)
        print(f"learning: {part.folder.relative_to(self._path)}", flush=True)
        try:
            self._learn(*self._find_part(part), not self._has_greeted)
        except UnusableModelError as error:  # all runs of a study have the same models
            raise UnusableModelError(f"{error}; for another model begin another study", "", error.role) from error
        self._has_greeted = True
        return _read_summary(part.run) or {}

    def _find_part(self, part: Part) -> tuple[Settings, Begun | None]:
        """Return the settings of a new run, or of one that goes on, and that run."""
        if part.run is None:
            return part.settings, None
        kept = KeptOptions(resume=part.run.name, runs=str(part.folder))
        return find_run(RunOptions(kept=kept, models=self._options.models, display=self._options.display))

    def _play_part(self, part: Part) -> dict[str, Any]:
        """Return the summary of the evaluation of a part's run once it is finished."""
        summary = _read_summary(part.evaluation)
        if summary is not None:
            return summary

        print(f"frozen: {part.folder.relative_to(self._path)}", flush=True)
        with redirect_stdout(io.StringIO()):  # its figures stand in the table
            self._evaluate(self._describe_evaluation(part))
        summary = _read_summary(part.evaluation)
        if summary is None:
            return {}
        pass1 = summary["curriculum"]["pooled"]["pass1"]
        episodes = format_count(pass1["total"], "episode")
        print(f"  {pass1['good']:,} of {episodes} solved by the first plan", flush=True)
        return summary

    def _describe_evaluation(self, part: Part) -> EvaluateOptions:
        """Return the options of a new evaluation, or of one that goes on."""
        resume = part.evaluation.name if part.evaluation else None
        how = HowOptions(workers=self._options.workers, runs=str(part.folder), quiet=True, resume=resume)
        if resume:
            return EvaluateOptions(how=how)

        models = part.settings.models
        servers = (format_servers(models.servers) or "").split(",")
        where = ServerOptions(
            base_url=models.servers["openai"].url,
            servers=tuple(server.replace("|", ",") for server in servers if server),
            model_table=models.model_table,
        )
        caps = CapOptions(max_cost=models.caps.cost_usd, max_calls=models.caps.calls, max_tokens=models.caps.tokens)
        settings = part.settings
        solver = SolverOptions(engine=settings.engine, unsafe_no_sandbox=settings.unsafe_no_sandbox)
        return EvaluateOptions(
            episodes=EpisodeOptions(
                agent=str(part.run),
                seeds=Seeds.read(self._record["seeds"]),
                only=(part.category,) if part.category else (),
                rename_words=settings.rename_words,
            ),
            how=how,
            planner=PlannerOptions(planner_model=self._record["frozen_planner"], where=where, caps=caps, solver=solver),
        )

    def _write(self, rows: Sequence[AblationRow]) -> None:
        levels = Counter(task.category for task in curriculum.load(self._path / _CURRICULUM).tasks())
        source = describe_origin(self._record.get("source", {}))
        data = {**self._record, "rows": [row.to_dict() for row in rows]}
        write_atomic(self._path / f"{TABLE}.json", json_text(data, indent=1) + "\n")
        markdown = table.markdown(rows, levels, self._record["seeds"], self._record["frozen_planner"], source)
        write_atomic(self._path / f"{TABLE}.md", markdown)


def _find_holding(folder: Path, name: str) -> Path | None:
    """Return the latest folder that holds this file, None if there is none."""
    return max((each.parent for each in folder.glob(f"*/{name}")), default=None)


def _read_summary(folder: Path | None) -> dict[str, Any] | None:
    if folder is None or not (folder / SUMMARY).is_file():
        return None
    return RunFolder(folder).read_json(SUMMARY)
