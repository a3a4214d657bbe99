"""The command ``ablations``: learn the same levels with all parts of learning and without each part; evaluate the runs.

A setting is "full", or it switches off one part of learning. The evaluations play episodes with unseen seeds. A study
is a folder, and each setting learns in a subfolder. A resumed study does not repeat finished runs and evaluations::

    runs/<id>/
      study.json            options of the study
      curriculum.json       the levels
      ablations.json        the rows of all finished settings, as data
      ablations.md          the same rows as a Markdown table
      full/                 a run and its evaluation; each other setting has a folder of the same form
      no-curriculum/NAME/   a run and its evaluation for one category; no library is carried over to the next
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
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
from spca.evaluation.ablations.options import DEFAULT_SEEDS, SETTINGS, StudyOptions
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
from spca.evaluation.seeds import Seeds
from spca.evaluation.settings_resolution import require_one_process
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import format_servers
from spca.plugins.loaded import record_plugins, require_plugins
from spca.plugins.named import load_environment_modules
from spca.plugins.registry import MINIGRID
from spca.report.read.origin import describe_origin
from spca.runs import curriculum
from spca.runs.curriculum import Curriculum
from spca.runs.options import (
    AblationOptions,
    CapOptions,
    KeptOptions,
    ModelOptions,
    RunOptions,
    SelectionOptions,
    ServerOptions,
    SolverOptions,
)
from spca.runs.provenance import source_info
from spca.runs.recording.folder import Begun, RunFolder, existing, new_run_id
from spca.runs.resolution import (
    find_run,
    require_able_models,
    resolve_models,
    resolve_settings,
    take_world_of_curriculum,
)
from spca.runs.settings import Settings

RECORD_OF_STUDY: Final = "study.json"
TABLE: Final = "ablations"
_CURRICULUM: Final = "curriculum.json"
_BARE: Final = "bare-prompt"

Learn = Callable[[Settings, Begun | None, bool], object]
"""Function that carries out a run.

Its arguments are the settings, the interrupted run to resume (None for a new run), and whether to print the models and
the sandbox first.
"""
Evaluate = Callable[[EvaluateOptions], object]
"""Function that carries out the command ``evaluate``."""


def begin_study(options: StudyOptions) -> Path:
    """Check the options of a new study, create the study's folder and return its path.

    Raises:
        UserError: an option is invalid.
    """
    environ = load_environment(options.models.where.servers)
    run_options = RunOptions(
        selection=options.selection,
        ablations=AblationOptions(rename_words=options.rename_words),
        models=options.models,
        solver=options.solver,
        display=options.display,
    )
    learning = resolve_settings(take_world_of_curriculum(run_options), environ)
    require_able_models(learning)
    all_levels = curriculum.load(Path(learning.curriculum))
    levels = all_levels.select(start_category=learning.start_category, only=learning.only)
    load_environment_modules(task.env_id for task in levels.tasks())

    # Embedded models do not read prompts, so that bare prompts would change nothing if all models are embedded.
    reads_prompts = learning.models.embedded != learning.models.refs
    if _BARE in (options.settings or ()) and not reads_prompts:
        raise SettingsError(f"--settings {_BARE}: {learning.models.planner} does not read prompts: leave {_BARE} out")
    usable = [name for name in SETTINGS if name != _BARE or reads_prompts]

    text = _format_levels(levels)
    record = {
        "settings": list(options.settings or usable),
        "seeds": str(options.seeds or DEFAULT_SEEDS),
        "frozen_planner": _choose_frozen_planner(options, environ, learning.world),
        "options": learning.record(),
        "source": source_info(learning, applications(), text),
        **record_plugins(),
    }
    path = find_runs(options.runs) / new_run_id()
    make_folder(path)
    write_atomic(path / _CURRICULUM, text)
    write_atomic(path / RECORD_OF_STUDY, json_text(record, indent=1) + "\n")
    return path


def resume_study(options: StudyOptions, name: str) -> Path:
    """Return the folder of an earlier study that is to be resumed.

    Args:
        name: the study's id, or a unique beginning of the id.

    Raises:
        ResumeError: there is no study of this name, or ``options`` sets an option that was fixed at the start.
    """
    path = existing(find_runs(options.runs), name, RECORD_OF_STUDY)
    for flag, value in _list_fixed_options(options).items():
        if value not in (None, False, ()):
            raise ResumeError(f"{flag} was chosen when the study began: leave it out")
    require_plugins(RunFolder(path).read_json(RECORD_OF_STUDY), f"study {path.name}", exactly=True)
    return path


def _list_fixed_options(options: StudyOptions) -> dict[str, object]:
    """Return the options that are fixed when a study begins, as a dictionary from flag to value."""
    selection = options.selection
    models = options.models
    solver = options.solver
    return {
        "--settings": options.settings,
        "--seeds": options.seeds,
        "--frozen-planner": options.frozen_planner,
        "--rename-words": options.rename_words,
        "--start-category": selection.start_category,
        "--only": selection.only,
        "--seed": selection.seed,
        "--upstream-rules": selection.upstream_rules,
        "--curriculum": selection.curriculum,
        "--world": selection.world,
        "--planner-model": models.planner_model,
        "--planner-small-model": models.planner_small_model,
        "--coder-model": models.coder_model,
        "--planner-effort": models.planner_effort,
        "--planner-small-effort": models.planner_small_effort,
        "--coder-effort": models.coder_effort,
        "--prompts": models.prompts,
        "--engine": solver.engine,
        "--unsafe-no-sandbox": solver.unsafe_no_sandbox,
    }


def _choose_frozen_planner(options: StudyOptions, environ: Mapping[str, str], world: str) -> str:
    """Return the model that plans when no writer has a plan in the evaluations of a study.

    The model is checked at once, because otherwise an error would appear only after the first run has learned.
    """
    default_model = EMBEDDED if options.rename_words is None and world == MINIGRID else NO_MODEL
    model = options.frozen_planner or default_model
    require_one_process(options.workers, model)
    if model == NO_MODEL:
        return model
    is_embedded = ModelRef.parse(model).is_embedded
    coder = "reference/coder" if is_embedded else model
    models = ModelOptions(planner_model=model, planner_small_model=model, coder_model=coder)
    ablations = AblationOptions(rename_words=options.rename_words)
    selection = SelectionOptions(world=world)
    settings = resolve_settings(RunOptions(selection=selection, models=models, ablations=ablations), environ)
    require_able_models(settings)
    return str(settings.models.planner)


def _format_levels(levels: Curriculum) -> str:
    """Return a curriculum in the JSON format of curriculum files."""
    return json_text(levels.to_json(), indent=1) + "\n"


def _take_away(learning: Settings, name: str) -> Settings:
    """Return a copy of ``learning`` in which the setting ``name`` has switched off its part of learning."""
    match name:
        case "no-compile":
            return replace(learning, compile=False)
        case "no-reuse":
            return replace(learning, reuse=False)
        case "no-regression-check":
            return replace(learning, regression_check=False)
        case "no-curriculum":
            return replace(learning, carry_over=False)
        case "bare-prompt":
            return replace(learning, bare_prompt=True)
    return learning


@dataclass(frozen=True, slots=True)
class Part:
    """A run that learns for a setting, and the evaluation of this run; both lie in ``folder``.

    Attributes:
        settings: settings of the run.
        category: the only category that the run learns; None for all categories.
    """

    folder: Path
    settings: Settings
    category: str | None = None

    @property
    def run(self) -> Path | None:
        """The folder of the run; None if the run has not begun."""
        return _find_holding(self.folder, "run.json")

    @property
    def evaluation(self) -> Path | None:
        """The folder of the evaluation; None if the evaluation has not begun."""
        return _find_holding(self.folder, RECORD)


class Study:
    """Carries out the unfinished runs and evaluations of a study.

    Args:
        path: the study's folder.
        learn: function that carries out a run.
        evaluate: function that evaluates a run.
        options: options of the current command. Its caps and servers may differ from those at the start of the study.
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
        """Carry out the unfinished part of the study and return a row of figures for each setting.

        After each setting, write the rows of all settings that are finished so far.
        """
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
        """Return the arguments of the command that reports a finished study.

        Most settings learn all categories in one run; others have a run for each category. If several settings have one
        run, the report compares the runs of the first two of these settings. If only one setting has one run, the
        report shows that run. If every setting has several runs, the report shows the folder of the first setting.
        """
        single_runs = [parts[0].run for parts in self._parts.values() if len(parts) == 1]
        runs = [str(run) for run in single_runs if run is not None]
        if len(runs) >= 2:
            return ["report", "--compare", *runs[:2]]
        if runs:
            return ["report", runs[0]]
        first_setting = next(iter(self._parts))
        return ["report", str(self._path / first_setting)]

    def _read_learning(self) -> Settings:
        """Return the study's settings with all parts of learning, changed to the caps and servers of the current
        command.
        """
        learning = Settings.from_record(self._record["options"], "study")
        model_options = self._options.models
        environ = load_environment((*model_options.where.servers, *learning.models.key_variables))
        models = resolve_models(model_options, environ, Path.cwd(), learning.models)
        display = self._options.display
        # The study's curriculum has the selected levels only, so that the selection must not be applied again.
        learning = replace(learning, curriculum=str(self._path / _CURRICULUM), start_category=None, only=())
        return replace(learning, models=models, render=display.render, quiet=display.quiet)

    def _list_parts(self, name: str) -> Iterator[Part]:
        """Yield the parts of a setting: one part for all categories, or one for each if no library is carried over."""
        settings = _take_away(self._learning, name)
        if settings.carry_over:
            yield self._place_part(self._path / name, settings)
            return
        for category in curriculum.load(self._path / _CURRICULUM).categories:
            yield self._place_part(self._path / name / category.name, settings, category.name)

    def _place_part(self, folder: Path, settings: Settings, category: str | None = None) -> Part:
        workspace = str(folder / "workspace")
        only = (category,) if category else ()
        part_settings = replace(settings, runs=str(folder), workspace=workspace, only=only)
        return Part(folder, part_settings, category)

    def _learn_part(self, part: Part) -> dict[str, Any]:
        """Begin or resume the run of a part if the run is not finished.

        Return the run's summary, or {} if the run has none.
        """
        summary = _read_summary(part.run)
        if summary is not None and summary["finished"] == summary["levels"]:
            return summary

        if not self._has_greeted:
            run_count = sum(map(len, self._parts.values()))
            runs = format_count(run_count, "run")
            print(f"study {self._path.name}: {runs}; a cap holds for each of them, and for each evaluation", flush=True)
        print(f"learning: {part.folder.relative_to(self._path)}", flush=True)
        try:
            settings, earlier_run = self._find_part(part)
            self._learn(settings, earlier_run, not self._has_greeted)
        except UnusableModelError as error:  # all runs of a study have the same models
            raise UnusableModelError(f"{error}; for another model begin another study", "", error.role) from error
        self._has_greeted = True
        return _read_summary(part.run) or {}

    def _find_part(self, part: Part) -> tuple[Settings, Begun | None]:
        """Return the settings of a part's run, and the interrupted run to resume (None for a new run)."""
        if part.run is None:
            return part.settings, None
        kept = KeptOptions(resume=part.run.name, runs=str(part.folder))
        return find_run(RunOptions(kept=kept, models=self._options.models, display=self._options.display))

    def _play_part(self, part: Part) -> dict[str, Any]:
        """Begin or resume the evaluation of a part if the evaluation is not finished.

        Return the evaluation's summary, or {} if the evaluation has none.
        """
        summary = _read_summary(part.evaluation)
        if summary is not None:
            return summary

        print(f"frozen: {part.folder.relative_to(self._path)}", flush=True)
        with redirect_stdout(io.StringIO()):  # the study's table shows the figures of the evaluation
            self._evaluate(self._describe_evaluation(part))
        summary = _read_summary(part.evaluation)
        if summary is None:
            return {}
        pass1 = summary["curriculum"]["pooled"]["pass1"]
        episodes = format_count(pass1["total"], "episode")
        print(f"  {pass1['good']:,} of {episodes} solved by the first plan", flush=True)
        return summary

    def _describe_evaluation(self, part: Part) -> EvaluateOptions:
        """Return the options with which the command ``evaluate`` begins or resumes the evaluation of a part."""
        resume = part.evaluation.name if part.evaluation else None
        how = HowOptions(workers=self._options.workers, runs=str(part.folder), quiet=True, resume=resume)
        if resume:
            return EvaluateOptions(how=how)

        settings = part.settings
        models = settings.models
        listed_servers = (format_servers(models.servers) or "").split(",")
        # ``format_servers`` separates a server's address and key variable by "|"; the option separates them by a comma.
        servers = tuple(server.replace("|", ",") for server in listed_servers if server)
        base_url = models.servers["openai"].url
        where = ServerOptions(base_url=base_url, servers=servers, model_table=models.model_table)
        caps = CapOptions(max_cost=models.caps.cost_usd, max_calls=models.caps.calls, max_tokens=models.caps.tokens)
        solver = SolverOptions(engine=settings.engine, unsafe_no_sandbox=settings.unsafe_no_sandbox)
        planner_model = self._record["frozen_planner"]
        planner = PlannerOptions(planner_model=planner_model, where=where, caps=caps, solver=solver)
        only = (part.category,) if part.category else ()
        seeds = Seeds.read(self._record["seeds"])
        episodes = EpisodeOptions(agent=str(part.run), seeds=seeds, only=only, rename_words=settings.rename_words)
        return EvaluateOptions(episodes=episodes, how=how, planner=planner)

    def _write(self, rows: Sequence[AblationRow]) -> None:
        """Write the rows as JSON data and as a Markdown table."""
        record = self._record
        levels = Counter(task.category for task in curriculum.load(self._path / _CURRICULUM).tasks())
        source = describe_origin(record.get("source", {}))
        data = {**record, "rows": [row.to_dict() for row in rows]}
        write_atomic(self._path / f"{TABLE}.json", json_text(data, indent=1) + "\n")
        markdown = table.markdown(rows, levels, record["seeds"], record["frozen_planner"], source)
        write_atomic(self._path / f"{TABLE}.md", markdown)


def _find_holding(folder: Path, name: str) -> Path | None:
    """Return the latest subfolder of ``folder`` that contains a file called ``name``; None if no subfolder does."""
    holding = [file.parent for file in folder.glob(f"*/{name}")]
    return max(holding, default=None)  # names of the subfolders begin with their time


def _read_summary(folder: Path | None) -> dict[str, Any] | None:
    """Return the content of a folder's ``summary.json``; None if there is no such file."""
    if folder is None or not (folder / SUMMARY).is_file():
        return None
    return RunFolder(folder).read_json(SUMMARY)
