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

import argparse
import io
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from spca.common.command import EXIT_FINISHED, PROGRAM_VARIABLE, Ending, Parser, program, ranged
from spca.common.debug_log import log_to_folder
from spca.common.encoding import json_text
from spca.common.errors import SettingsError, UnusableModelError
from spca.common.files import locked, make_folder, remove_torn_files, write_atomic
from spca.common.installation import home, where_runs_lie
from spca.common.text import counted, one_line
from spca.errors import ResumeError
from spca.evaluation import options
from spca.evaluation.ablations import table
from spca.evaluation.ablations.table import AblationRow
from spca.evaluation.eval_folder import RECORD, SUMMARY
from spca.report.read.origin import describe_origin
from spca.runs import cli, curriculum, model_choice
from spca.runs.curriculum import Curriculum
from spca.runs.folder import RunFolder, existing, new_run_id
from spca.runs.provenance import source_info
from spca.runs.settings import ABLATIONS, MAY_CHANGE_ON_RESUME

FULL: Final = "full"
SETTINGS: Final[Mapping[str, Mapping[str, bool]]] = {FULL: {}} | {
    flag.removeprefix("--"): {name: value} for flag, (name, value) in ABLATIONS.items()
}
"""What is compared: the options of learning, by name."""
SEEDS: Final = "1000:1010"
RECORD_OF_STUDY: Final = "study.json"
TABLE: Final = "ablations"
_CURRICULUM: Final = "curriculum.json"
_BARE: Final = "bare-prompt"
_OF_STUDY: Final = ("settings", "seeds", "frozen_planner")
_LEVELS: Final = ("start_category", "only", "levels", "curriculum")
_OF_EACH_RUN: Final = {
    **{name: flag for flag, (name, _) in ABLATIONS.items()},
    **{name: f"--{name.replace('_', '-')}" for name in ("workspace", "keep_agent", "keep_pddl")},
}
"""Options that differ from run to run -> their flags."""

Command = Callable[[Mapping[str, Any], Ending], int]
"""A command of ``main.py``: from its options to its exit code."""
Learning = Callable[[Mapping[str, Any], Ending, bool], int]
"""The command ``run``, which also takes whether it is to tell of models and sandbox first."""


def main(called: Mapping[str, Any], end: Ending, root: Path, learn: Learning, evaluate: Command) -> int:
    """Begin a study, or go on with one; the exit code.

    Args:
        root: folder of the applications.
        learn: the command ``run``.
        evaluate: the command ``evaluate``.

    Raises:
        UserError: anything that is wrong with the options, or with one of the two commands.
        BudgetReached: a run has reached a cap, or its model gives no usable answers.
    """
    own, given = _parsed(called["arguments"][1:])
    runs = Path.cwd() / own.get("runs", home(root, Path.cwd()) / "runs")
    path = _opened(runs, own, given) if "resume" in own else _begun(runs, own, given, root)
    end.go_on = f"{program()} ablations --resume {path.name}{where_runs_lie(runs)}"
    lasting = {name: value for name, value in given.items() if name in MAY_CHANGE_ON_RESUME}
    study = Study(path, learn, evaluate, lasting, own.get("workers"))
    table.show(study.run())
    print(one_line(f"tables: {path / TABLE}.md and {path / TABLE}.json"))
    print(one_line(f"look at it: {program()} {shlex.join(study.looking())}"))
    return EXIT_FINISHED


def _parsed(arguments: Sequence[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the study and those of learning."""
    parser = Parser(
        prog=f"{os.environ.get(PROGRAM_VARIABLE, 'main.py')} ablations",
        description="Learn once in full and once without each part; play what was learned on unseen seeds.",
        epilog="All other options are those of learning, such as --only, --levels, --seed and --planner-model; "
        "a cap holds for each run.",
        argument_default=argparse.SUPPRESS,
        allow_abbrev=False,
    )
    add = parser.add_argument
    names = ",".join(SETTINGS)
    add("--settings", type=_settings, metavar="A,B", help=f"which: {names} (all that can matter)")
    add("--seeds", type=options.seeds, metavar="A:B", help=f"of the frozen episodes (default {SEEDS})")
    told = f"plans where no stored writer does (default {options.EMBEDDED}; {options.NO_MODEL}: writers alone)"
    add("--frozen-planner", metavar="MODEL", help=told)
    add("--workers", type=ranged(int, "invalid count {!r}: expected a positive integer", 1), metavar="N", help=_WORKERS)
    add("--runs", metavar="DIR", help="where studies lie (default runs)")
    add("--resume", metavar="ID", help="go on with a study that was interrupted: its id, or how it begins")
    own, rest = parser.parse_known_args(arguments)
    flags = [flag for action in parser._actions for flag in action.option_strings]
    given = cli.parse(rest, {"run": "learn the levels"}, further_flags=flags)
    del given["command"]
    for name, flag in _OF_EACH_RUN.items():
        if name in given:
            raise SettingsError(f"{flag} is up to the study, which has runs with and without: leave it out")
    return vars(own), given


_WORKERS: Final = "processes that play frozen episodes (default: one for each processor)"


def _settings(text: str) -> list[str]:
    wanted = [name.strip() for name in text.split(",")]
    for name in wanted:
        if name not in SETTINGS:
            raise argparse.ArgumentTypeError(f"invalid setting {name!a:.80}: choose from {', '.join(SETTINGS)}")
        if wanted.count(name) > 1:
            raise argparse.ArgumentTypeError(f"{name} is there twice: give each setting once")
    return wanted


def _begun(runs: Path, own: Mapping[str, Any], given: Mapping[str, Any], root: Path) -> Path:
    """Return the folder of a new study, once nothing speaks against it."""
    chosen = cli.resolve_settings(given, root)
    which = {name: getattr(chosen, name) for name in _LEVELS[:3]}
    levels = curriculum.load(Path(chosen.curriculum)).select(**which)
    is_read = chosen.models.embedded != chosen.models.refs
    if _BARE in own.get("settings", ()) and not is_read:
        raise SettingsError(f"--settings {_BARE}: {chosen.models.planner} does not read prompts: leave {_BARE} out")
    record = chosen.record()
    models = {name: record[name] for name in model_choice.EFFORT_OF}
    fixed = {"model_table": record["model_table"]} if record["model_table"] else {}
    left_out = (*_LEVELS, *model_choice.EFFORT_OF.values())
    renamed = {} if chosen.rename_words is None else {"rename_words": chosen.rename_words}
    planner = _frozen_planner(own, renamed, root)
    asked = {
        "settings": [name for name in SETTINGS if name != _BARE or is_read],
        "seeds": SEEDS,
        **{name: own[name] for name in _OF_STUDY if name in own},
        "frozen_planner": planner,
        "options": {**{name: value for name, value in given.items() if name not in left_out}, **models, **fixed},
    }
    asked |= {"source": source_info(chosen, root, _text(levels))}
    path = runs / new_run_id()
    make_folder(path)
    write_atomic(path / _CURRICULUM, _text(levels))
    write_atomic(path / RECORD_OF_STUDY, json_text(asked, indent=1) + "\n")
    return path


def _opened(runs: Path, own: Mapping[str, Any], given: Mapping[str, Any]) -> Path:
    path = existing(runs, own["resume"], RECORD_OF_STUDY)
    for name in (*(name for name in own if name in _OF_STUDY), *(n for n in given if n not in MAY_CHANGE_ON_RESUME)):
        flag = f"--{name.replace('_', '-')}"
        raise ResumeError(f"{flag} was chosen when the study began: leave it out")
    return path


def _frozen_planner(own: Mapping[str, Any], renamed: Mapping[str, Any], root: Path) -> str:
    """Return who plans where no writer does, once nothing speaks against it: that would be told late."""
    model: str = own.get("frozen_planner", options.NO_MODEL if renamed else options.EMBEDDED)
    if model == options.NO_MODEL:
        return model
    if model != options.EMBEDDED and own.get("workers", 1) > 1:
        raise SettingsError(f"--workers {own['workers']}: what is asked of {model} is counted by one process")
    return str(cli.resolve_settings({**options.models_of(model), **renamed}, root).models.planner)


def _text(levels: Curriculum) -> str:
    names = {"name": "category_name"}
    categories = [{names.get(key, key): value for key, value in asdict(each).items()} for each in levels.categories]
    return json_text(categories, indent=1) + "\n"


@dataclass(frozen=True, slots=True)
class Part:
    """What one run of a setting learns, in a folder of its own: everything, or one category."""

    folder: Path
    options: Mapping[str, Any]
    category: str | None = None

    @property
    def run(self) -> Path | None:
        return _holding(self.folder, "run.json")

    @property
    def evaluation(self) -> Path | None:
        return _holding(self.folder, RECORD)


class Study:
    """Learns and plays what is left of a study.

    Args:
        path: its folder.
        learn: the command ``run``.
        evaluate: the command ``evaluate``.
        given: options of learning that may differ from those that it was begun with.
        workers: processes that play; None for one a processor.
    """

    def __init__(
        self, path: Path, learn: Learning, evaluate: Command, given: Mapping[str, Any], workers: int | None = None
    ) -> None:
        self._path, self._learn, self._evaluate, self._given = path, learn, evaluate, given
        self._workers = {} if workers is None else {"workers": workers}
        self._has_greeted = False
        self._asked = RunFolder(path).read_json(RECORD_OF_STUDY)
        self._settings = {name: tuple(self._parts(name)) for name in self._asked["settings"]}

    def run(self) -> tuple[AblationRow, ...]:
        """Finish the study and return its rows; the tables are written after each."""
        rows: list[AblationRow] = []
        with locked(self._path, "study"), log_to_folder(self._path):
            remove_torn_files(self._path, ".*.tmp")
            for name, parts in self._settings.items():
                learned, frozen = [self._learned(part) for part in parts], [self._played(part) for part in parts]
                rows.append(AblationRow.of(name, learned, frozen))
                self._write(rows)
        return tuple(rows)

    def looking(self) -> list[str]:
        """Return the command that shows a finished study: two of its runs side by side, or one where there is one."""
        alone = [parts[0].run for parts in self._settings.values() if len(parts) == 1]
        runs = [str(run) for run in alone if run is not None][:2]
        if len(runs) == 2:
            return ["report", "--compare", *runs]
        return ["report", *(runs or [str(self._path / next(iter(self._settings)))])]

    def _parts(self, name: str) -> Iterator[Part]:
        flags = SETTINGS[name]
        if flags.get("carry_over", True):
            yield Part(self._path / name, flags)
            return
        for category in curriculum.load(self._path / _CURRICULUM).categories:
            yield Part(self._path / name / category.name, {**flags, "only": category.name}, category.name)

    def _learned(self, part: Part) -> dict[str, Any]:
        """Return the summary of a part's run once it is finished."""
        summary = _summary(part.run)
        if summary is None or summary["finished"] < summary["levels"]:
            if not self._has_greeted:
                runs = sum(map(len, self._settings.values()))
                said = f"study {self._path.name}: {counted(runs, 'run')}"
                print(f"{said}; a cap holds for each of them, and for each evaluation", flush=True)
            print(f"learning: {part.folder.relative_to(self._path)}", flush=True)
            try:
                self._learn(self._options(part), Ending(), not self._has_greeted)
            except UnusableModelError as error:  # all runs of a study have the same models
                raise UnusableModelError(f"{error}; for another model begin another study", "", error.role) from error
            self._has_greeted = True
            summary = _summary(part.run)
        return summary or {}

    def _options(self, part: Part) -> dict[str, Any]:
        """Options of a new run, or of one that goes on."""
        if part.run is not None:
            return {"command": "run", **self._given, "resume": part.run.name, "runs": str(part.folder)}
        where = {"runs": str(part.folder), "workspace": str(part.folder / "workspace")}
        levels = {"curriculum": str(self._path / _CURRICULUM)}
        return {"command": "run", **self._asked["options"], **self._given, **part.options, **where, **levels}

    def _played(self, part: Part) -> dict[str, Any]:
        """Return the summary of the evaluation of a part's run once it is finished."""
        summary = _summary(part.evaluation)
        if summary is None:
            print(f"frozen: {part.folder.relative_to(self._path)}", flush=True)
            with redirect_stdout(io.StringIO()):  # its figures stand in the table
                self._evaluate({"command": "evaluate", "arguments": ["evaluate", *self._arguments(part)]}, Ending())
            summary = _summary(part.evaluation)
            if summary is not None:
                pass1 = summary["curriculum"]["pooled"]["pass1"]
                said = f"{pass1['good']:,} of {counted(pass1['total'], 'episode')}"
                print(f"  {said} solved by the first plan", flush=True)
        return summary or {}

    def _arguments(self, part: Part) -> list[str]:
        """Arguments of a new evaluation, or of one that goes on."""
        given: dict[str, Any] = {"runs": part.folder, "quiet": True, **self._workers}
        if part.evaluation is not None:
            return _as_arguments({**given, "resume": part.evaluation.name})
        asked = {**self._asked["options"], **self._given}
        passed = {name: asked[name] for name in options.OF_PLANNING if name in asked and "effort" not in name}
        chosen = {"agent": part.run, "seeds": self._asked["seeds"], "planner_model": self._asked["frozen_planner"]}
        category = {} if part.category is None else {"categories": part.category}
        return _as_arguments({**given, **passed, **chosen, **category})

    def _write(self, rows: Sequence[AblationRow]) -> None:
        seeds, planner = self._asked["seeds"], self._asked["frozen_planner"]
        levels = Counter(task.category for task in curriculum.load(self._path / _CURRICULUM).tasks())
        source = describe_origin(self._asked.get("source", {}))
        data = {**self._asked, "rows": [row.to_dict() for row in rows]}
        write_atomic(self._path / f"{TABLE}.json", json_text(data, indent=1) + "\n")
        write_atomic(self._path / f"{TABLE}.md", table.markdown(rows, levels, seeds, planner, source))


def _holding(folder: Path, name: str) -> Path | None:
    """Return the latest folder that holds this file, None if there is none."""
    return max((each.parent for each in folder.glob(f"*/{name}")), default=None)


def _summary(folder: Path | None) -> dict[str, Any] | None:
    if folder is None or not (folder / SUMMARY).is_file():
        return None
    return RunFolder(folder).read_json(SUMMARY)


def _as_arguments(given: Mapping[str, Any]) -> list[str]:
    """Return options as they stand on a command line."""
    arguments: list[str] = []
    for name, value in given.items():
        flag = "--server" if name == "servers" else f"--{name.replace('_', '-')}"
        values = value if isinstance(value, list) else [value]
        arguments += [flag] if value is True else [word for each in values for word in (flag, str(each))]
    return arguments
