"""Sources of plans of a frozen agent: the stored problem writers, and a planner model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from spca.code import library
from spca.contracts import AgentSource, FailedPlan, LevelInfo, Plan, PlanFailure, Snapshot
from spca.evaluation.episodes import Episode
from spca.evaluation.eval_folder import EvaluationSettings
from spca.evaluation.playing.player import Asker
from spca.llm.answer_tally import AnswerTally
from spca.llm.calls.desk import CallDesk
from spca.plan.solver import Solver
from spca.runs.models import Models
from spca.runs.phases import Asking, Phases
from spca.runs.recording.folder import RunFolder
from spca.runs.run import make_desk
from spca.sense.renaming import Renaming
from spca.writers.library import WriterLibrary
from spca.writers.stored import WriterFailure

StoredPlanner: TypeAlias = Callable[[Snapshot, LevelInfo], Iterable[Plan | WriterFailure]]
"""Function that returns the plans of stored writers for a level, and the failures of writers without a plan."""


def make_stored_planner(writers: WriterLibrary, renaming: Renaming, only_category: str | None) -> StoredPlanner:
    """Return a function that asks stored writers for plans of a level.

    Args:
        only_category: the only category that the writers may plan for; None for all categories.
    """

    def plan_stored(snapshot: Snapshot, level: LevelInfo) -> Iterable[Plan | WriterFailure]:
        if only_category not in (None, level.category):
            return ()
        return writers.plans(snapshot, renaming.level(level))

    return plan_stored


class ModelAsker:
    """Asks the planner model for plans.

    Requests to the embedded model are not recorded. Requests to any other model are recorded and capped as in a run.

    Args:
        folder: where requests are recorded; not used for the embedded model.
    """

    def __init__(self, settings: EvaluationSettings, phases: Phases, solver: Solver, folder: Path) -> None:
        self._settings = settings.planning
        self._renaming = settings.renaming
        self._phases = phases
        self._solver = solver
        models = Models.load(self._settings.models)
        self._desk = CallDesk(catalogue=models.catalogue)
        if not self._settings.models.uses_reference:
            self._desk = make_desk(self._settings, models, models.caps(), RunFolder(folder))

    def begin_episode(self, episode: Episode, agent: AgentSource) -> Asker:
        """Begin an episode in the ledger of requests, and return the function that asks the model for plans of this
        episode.
        """
        settings = self._settings
        self._desk.begin_level(episode.index + 1, episode.category, episode.spec.name, episode.seed)
        asking = Asking(settings.models, self._desk, settings.wording, AnswerTally(), lambda *_: None)
        planner = self._phases.make_planner(asking, self._solver, False)
        level = self._renaming.level(episode.info())

        def ask(snapshot: Snapshot, failed: Sequence[FailedPlan]) -> Plan | PlanFailure:
            actions = library.action_listing(agent.text, snapshot.mission)
            return planner.plan(snapshot, level, actions, agent=agent, failed=failed)

        return ask
