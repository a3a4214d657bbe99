"""Write what a run has learned as a program of the harness EvoPolicyGym."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from spca.common.errors import SettingsError
from spca.common.files import make_folder, write_atomic
from spca.common.installation import applications, find_runs
from spca.common.text import format_count, one_line
from spca.evaluation.eval_folder import EvaluationFolder, EvaluationSettings
from spca.evaluation.learned import Learned, read_learned
from spca.evaluation.options import NO_MODEL, EvaluateOptions, PlannerOptions
from spca.evaluation.settings_resolution import resolve_evaluation
from spca.plugins.registry import MINIGRID
from spca.runs.provenance import versions
from spca.runs.settings import ModelSettings
from spca.version import __version__

_PROGRAM: Final = Path(__file__).with_name("evopolicygym_program.py")
_LEARNED: Final = "learned"
_README: Final = """\
# A program for EvoPolicyGym

`policy.py:make_policy` plays levels of MiniGrid and BabyAI with what the run `{run}` of Sense-Plan-Code-Act has
learned: {writers}, and the library of actions. No model is asked.

The package sense-plan-code-act {version} must be installed where the program runs: its wheel, or its checkout.
Generated code runs in its sandbox (`spca doctor` tells whether it works). The first action of an episode takes a few
seconds: a sandbox and a planner are started for each episode.

`learned/` holds the library, the problem writers with the levels that they have solved, and the settings. It is also
what `spca.load_policy("{folder}")` reads.
"""


@dataclass(frozen=True, slots=True)
class ExportedProgram:
    """A program that was written.

    Attributes:
        run: id of the run that it comes from.
        writers: number of problem writers.
    """

    run: str
    writers: int


def export_program(run: str, folder: Path, runs: str | None) -> ExportedProgram:
    """Write a run's library, writers and settings as a program.

    Args:
        run: folder or id of the run.
        folder: folder of the program; it must be empty or missing.
        runs: the folder of runs; None for the default.

    Raises:
        ResumeError: the run does not exist or cannot be read.
        SettingsError: the folder is not empty or cannot be written to, or the run needs a plugin.
        PluginError: the run needs a plugin.
    """
    learned = read_learned(run, find_runs(runs), Path.cwd(), applications())
    _require_no_plugin(learned)
    _require_empty(folder)
    settings = resolve_evaluation(EvaluateOptions(planner=PlannerOptions(planner_model=NO_MODEL)), learned)
    made_with = {"versions": versions(), "sandbox": "", "exported_from": learned.source}
    make_folder(folder)
    EvaluationFolder.create_at(folder / _LEARNED, _remove_paths(settings), learned, made_with)
    shutil.copyfile(_PROGRAM, folder / "policy.py")
    exported = ExportedProgram(learned.source, len(learned.stored))
    write_atomic(folder / "README.md", _describe_program(exported))
    return exported


def _require_no_plugin(learned: Learned) -> None:
    needed = next(iter(learned.plugins), "")
    world = learned.settings.get("world", MINIGRID)
    if needed or world != MINIGRID:
        what = f"the plugin {one_line(needed)}" if needed else f"the world {one_line(world)}"
        raise SettingsError(
            f"{learned.source} used {what}, which a program cannot load: use spca.load_policy in a loop of your own"
        )


def _require_empty(folder: Path) -> None:
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        raise SettingsError(f"{folder} is not an empty folder: name a new one")


def _remove_paths(settings: EvaluationSettings) -> EvaluationSettings:
    """Return the settings without paths and addresses of this machine."""
    planning = replace(settings.planning, curriculum="", workspace="", runs="", prompts=None, models=ModelSettings())
    return replace(settings, planning=planning)


def _describe_program(exported: ExportedProgram) -> str:
    writers = format_count(exported.writers, "problem writer")
    return _README.format(run=exported.run, writers=writers, version=__version__, folder=_LEARNED)
