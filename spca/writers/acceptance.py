"""Whether a draft of a problem writer is kept: it must do for its own level what the model's own problem did, keep all
that its name has solved, and read the snapshot that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import chain
from typing import Final

from spca.common.text import one_line
from spca.contracts import AgentSource, Plan, ProblemWriter
from spca.errors import PlanTextError, RestoreError, WorldError
from spca.llm.feedback import shorten_middle
from spca.plan.pddl import NameMap
from spca.protocols import World
from spca.writers.checking import fault_of_draft
from spca.writers.problems import ProblemSets
from spca.writers.renamings import SWAPPED_KINDS, Permutation, recolourings
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Case, Miss

UNREADABLE: Final = " and sing every second verse of it backwards"
"""What makes a mission one that no writer reads to the last word."""

_LONGEST_MISSION: Final = 100
_SWAP: Final = Permutation(SWAPPED_KINDS)


class Acceptance:
    """The checks of drafts.

    Args:
        runner: runs writers.
        planned: the validated plan of a writer's problem, or why there is none.
        make_world: a fresh world for an environment id and seed; None where levels cannot be played again.
    """

    def __init__(
        self,
        runner: WriterRunner,
        planned: Callable[[ProblemWriter, str], Plan | Written],
        make_world: Callable[[str, int], World] | None,
    ) -> None:
        self._runner = runner
        self._planned = planned
        self._make_world = make_world

    def objection(self, draft: ProblemWriter, case: Case, kept: Sequence[Case], agent: AgentSource) -> str:
        """Return why a draft is not kept, "" if it is.

        Args:
            case: the level that it came with.
            kept: what writers of its name have solved.
            agent: the library that changed plans are carried out with.

        Raises:
            SandboxError: there is no sandbox to run it in.
        """
        if fault := fault_of_draft(draft):
            return fault

        probes: list[Permutation] = []
        for words in recolourings(case.state):
            probes += [Permutation(words, keep_goals=True), Permutation(words, keep_goals=False)]
        states = [case.state, case.state]
        states += [permutation.state(case.state) for permutation in (*probes, _SWAP)]
        unreadable = case.state["mission"] + UNREADABLE
        states.append({**case.state, "mission": unreadable})
        states += [old.state for old in kept]

        # The results come in the order of the states.
        results = self._runner.each([(draft.source, state) for state in states], again=True)
        first = next(results)
        if first.miss is not None:
            what = "refuses" if first.miss is Miss.REFUSED else "fails on"
            return f"it {what} its own snapshot: {first.reason}"
        self._runner.close()  # in the process that the next call forks from, everything lies elsewhere in memory
        if next(results) != first:
            return "it does not write the same problem twice for its own snapshot: derive it from nothing else"
        return (
            _check_own_snapshot(first.text, case.problem)
            or _check_renamed(first.text, [(probe, next(results)) for probe in probes])
            or _check_kinds(draft, first.text, next(results), str(case.state["mission"]))
            or _check_unread(next(results))
            or self._check_plans(draft, chain([(case, first)], zip(kept, results, strict=True)), agent)
        )

    def _check_plans(self, draft: ProblemWriter, cases: Iterable[tuple[Case, Written]], agent: AgentSource) -> str:
        """Return what is wrong with the plans for levels that were solved, "" if nothing is."""
        for case, written in cases:
            fault = written.reason
            if written.miss is None and not _is_unchanged(draft, case, written):
                fault = self._check_plan(self._planned(draft, written.text), case, agent)
            if fault:
                mission = shorten_middle(one_line(str(case.state["mission"])), _LONGEST_MISSION)
                return f"for the mission '{mission}', which was solved, {fault}"
        return ""

    def _check_plan(self, plan: Plan | Written, case: Case, agent: AgentSource) -> str:
        if not isinstance(plan, Plan):
            return f"there is no plan any more: {plan.reason}"
        solved = case.solved
        if plan.steps == solved.plan.steps:
            return ""
        change = f"the plan {solved.plan.text} becomes {plan.text}"
        if self._make_world is None:
            return f"{change}, which cannot be tried here"
        try:
            with closing(self._make_world(solved.env_id, solved.seed)) as world:
                world.restore(solved.checkpoint)
                outcome = world.run_sim(plan, agent)
        except (WorldError, RestoreError) as error:
            return f"{change}, and the level cannot be played again: {error}"
        return "" if outcome.solved else f"{change}, which ends with {outcome.status.value}: {outcome.message}"


def _is_unchanged(draft: ProblemWriter, case: Case, written: Written) -> bool:
    return (draft.domain, written.text) == (case.solved.plan.domain, case.problem)


def _check_own_snapshot(text: str, answered: str) -> str:
    try:
        difference = ProblemSets.from_text(text).difference(ProblemSets.from_text(answered))
    except PlanTextError as error:
        return f"what it writes for its own snapshot is no problem: {error}"
    return f"for its own snapshot it does not write the problem of the same answer: {difference}" if difference else ""


def _check_renamed(text: str, renamed: Sequence[tuple[Permutation, Written]]) -> str:
    """Return how a writer contradicts a change of colours, "" if it follows or refuses each, goals kept or not."""
    for variants in zip(renamed[::2], renamed[1::2], strict=True):
        faults = [_check_renaming(text, renaming, written) for renaming, written in variants]
        if all(faults):
            return f"it does not follow when mission and map speak of other colours: {faults[0]}"
    return ""


def _check_renaming(text: str, renaming: Permutation, written: Written) -> str:
    if written.miss is not None:
        return "" if written.miss is Miss.REFUSED else written.reason
    try:
        return ProblemSets.from_text(written.text).difference(ProblemSets.from_text(renaming.text(text)))
    except PlanTextError as error:
        return str(error)


def _check_kinds(draft: ProblemWriter, text: str, swapped: Written, mission: str) -> str:
    """Return that a writer ignores kinds, or some of them; what else follows from one may differ."""
    is_told = mission != _SWAP.text(mission) and ProblemSets.from_text(text) != ProblemSets.from_text(_SWAP.text(text))
    when = "when mission and map speak of boxes instead of balls, or of balls instead"
    if swapped.text == text and is_told:
        return f"it writes the same problem {when}"
    if swapped.miss is not None:
        return ""
    try:
        names = ProblemSets.from_text(swapped.text).find_undeclared(
            NameMap.from_pddl(draft.domain, swapped.text).objects
        )
    except PlanTextError as error:
        return f"{when}, what it writes is no problem: {error}"
    return f"{when}, its problem names what it does not declare: {names}" if names else ""


def _check_unread(unread: Written) -> str:
    if unread.miss is not None:
        return ""
    return f"it must raise ValueError for a mission that it cannot read to the last word, such as '...{UNREADABLE}'"
