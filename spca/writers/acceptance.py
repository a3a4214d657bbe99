"""The acceptance of a draft of a problem writer.

For its own level, a draft must write the same problem as the model wrote in the same answer. For all levels that
earlier versions of the same name have solved, the draft's plans must still succeed. The draft must derive the problem
from the snapshot; this is tested with snapshots whose words are renamed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from itertools import chain
from typing import Final

from spca.body import WordGroups
from spca.common.text import one_line
from spca.contracts import AgentSource, LevelSpec, Plan, ProblemWriter
from spca.errors import PlanTextError, RestoreError, WorldError
from spca.llm.feedback import shorten_middle
from spca.plan.pddl import NameMap
from spca.protocols import World
from spca.writers.checking import fault_of_draft
from spca.writers.problems import ProblemSets
from spca.writers.renamings import Permutation, recolourings
from spca.writers.running import WriterRunner, Written
from spca.writers.stored import Case, Miss

UNREADABLE: Final = " and sing every second verse of it backwards"
"""Suffix that makes a mission unreadable, so that a writer that reads every word must refuse the mission."""

_MAX_MISSION: Final = 100


class Acceptance:
    """The checks of drafts.

    Args:
        runner: runs writers.
        planned: function that returns the validated plan for a writer's problem, or the reason of the failure.
        vocabulary: words that renamings exchange; None if no word can be renamed.
        make_world: function that creates a world from a level and a seed; None if levels cannot be replayed.
    """

    def __init__(
        self,
        runner: WriterRunner,
        planned: Callable[[ProblemWriter, str], Plan | Written],
        vocabulary: WordGroups | None,
        make_world: Callable[[LevelSpec, int], World] | None,
    ) -> None:
        self._runner = runner
        self._planned = planned
        self._vocabulary = vocabulary or WordGroups(())
        self._make_world = make_world

    def objection(self, draft: ProblemWriter, case: Case, kept: Sequence[Case], agent: AgentSource) -> str:
        """Return why a draft is refused; "" if the draft is accepted.

        Args:
            case: the level on which the draft was written.
            kept: the levels that earlier versions of the same name have solved.
            agent: the library of methods that executes changed plans.

        Raises:
            SandboxError: there is no working sandbox.
        """
        if fault := fault_of_draft(draft):
            return fault

        probes: list[Permutation] = []
        vocabulary = self._vocabulary
        for words in recolourings(case.state, vocabulary) if vocabulary.alike else ():
            probes += [Permutation(words, keep_goals=True), Permutation(words, keep_goals=False)]
        swaps: list[Permutation] = []
        if vocabulary.swapped:
            swaps.append(Permutation(vocabulary.swapped, redraw=vocabulary.redraw))
        states = [case.state, case.state]
        states += [permutation.state(case.state) for permutation in (*probes, *swaps)]
        unreadable = case.state["mission"] + UNREADABLE
        states.append({**case.state, "mission": unreadable})
        states += [old.state for old in kept]

        # The results come in the order of the states: twice the draft's own snapshot, the probes, the swapped kinds,
        # the unreadable mission, the kept cases. Each `next` runs the draft on the next state.
        results = self._runner.each([(draft.source, state) for state in states], again=True)
        first = next(results)
        if first.miss is not None:
            what = "refuses" if first.miss is Miss.REFUSED else "fails on"
            return f"it {what} its own snapshot: {first.reason}"
        self._runner.close()  # the next call gets a new process with another memory layout
        if next(results) != first:
            return "it does not write the same problem twice for its own snapshot: derive it from nothing else"
        return (
            _check_own_snapshot(first.text, case.problem)
            or _check_renamed(first.text, [(probe, next(results)) for probe in probes], vocabulary)
            or self._check_swaps(draft, first.text, [(swap, next(results)) for swap in swaps], case)
            or _check_unread(next(results))
            or self._check_plans(draft, chain([(case, first)], zip(kept, results, strict=True)), agent)
        )

    def _check_swaps(
        self, draft: ProblemWriter, text: str, swapped: Sequence[tuple[Permutation, Written]], case: Case
    ) -> str:
        """Return how a writer fails if kinds are swapped; "" if the writer is correct."""
        mission = str(case.state["mission"])
        when = f"when {self._vocabulary.mention} of {self._vocabulary.swapped_title}"
        faults = (_check_kinds(draft, text, written, mission, swap, when) for swap, written in swapped)
        return next(filter(None, faults), "")

    def _check_plans(self, draft: ProblemWriter, cases: Iterable[tuple[Case, Written]], agent: AgentSource) -> str:
        """Return why the draft fails on a level that was solved before; "" if its plans for all levels succeed."""
        for case, written in cases:
            fault = written.reason
            if written.miss is None and not _is_unchanged(draft, case, written):
                fault = self._check_plan(self._planned(draft, written.text), case, agent)
            if fault:
                mission = shorten_middle(one_line(str(case.state["mission"])), _MAX_MISSION)
                return f"for the mission '{mission}', which was solved, {fault}"
        return ""

    def _check_plan(self, plan: Plan | Written, case: Case, agent: AgentSource) -> str:
        """Return why ``plan`` does not solve the level of ``case``; "" if it does.

        If the plan differs from the plan that solved the level, execute it in the world.
        """
        if not isinstance(plan, Plan):
            return f"there is no plan any more: {plan.reason}"
        solved = case.solved
        if plan.steps == solved.plan.steps:
            return ""
        change = f"the plan {solved.plan.text} becomes {plan.text}"
        if self._make_world is None:
            return f"{change}, which cannot be tried here"
        try:
            with closing(self._make_world(solved.level, solved.seed)) as world:
                if not world.can_restore:
                    return f"{change}, which cannot be tried in a world with one life"
                world.restore(solved.checkpoint)
                outcome = world.run_sim(plan, agent)
        except (WorldError, RestoreError) as error:
            return f"{change}, and the level cannot be played again: {error}"
        return "" if outcome.solved else f"{change}, which ends with {outcome.status.value}: {outcome.message}"


def _is_unchanged(draft: ProblemWriter, case: Case, written: Written) -> bool:
    return (draft.domain, written.text) == (case.solved.plan.domain, case.problem)


def _check_own_snapshot(text: str, answered: str) -> str:
    """Return how the written problem differs from the model's problem ``answered``; "" if they are equal."""
    try:
        difference = ProblemSets.from_text(text).difference(ProblemSets.from_text(answered))
    except PlanTextError as error:
        return f"what it writes for its own snapshot is no problem: {error}"
    return f"for its own snapshot it does not write the problem of the same answer: {difference}" if difference else ""


def _check_renamed(text: str, renamed: Sequence[tuple[Permutation, Written]], vocabulary: WordGroups) -> str:
    """Return how a writer fails if words that are alike are renamed; "" if the writer is correct.

    The renamings come in pairs, which are equal except that only the first keeps the colour of goals. For each pair,
    the writer's result must follow at least one of the two renamings.
    """
    for variants in zip(renamed[::2], renamed[1::2], strict=True):
        faults = [_check_renaming(text, renaming, written) for renaming, written in variants]
        if all(faults):
            when = f"when {vocabulary.mention} of other {vocabulary.alike_title}"
            return f"it does not follow {when}: {faults[0]}"
    return ""


def _check_renaming(text: str, renaming: Permutation, written: Written) -> str:
    """Return how the result for a renamed snapshot differs from ``text`` with the same renaming.

    Return "" if they are equal, or if the writer refused the snapshot.
    """
    if written.miss is not None:
        return "" if written.miss is Miss.REFUSED else written.reason
    try:
        return ProblemSets.from_text(written.text).difference(ProblemSets.from_text(renaming.text(text)))
    except PlanTextError as error:
        return str(error)


def _check_kinds(draft: ProblemWriter, text: str, swapped: Written, mission: str, swap: Permutation, when: str) -> str:
    """Return how a writer fails if kinds are swapped; "" if the writer is correct.

    The swapped problem may differ in other ways too, because rules may depend on the kind.
    """
    swapped_text = swap.text(text)
    is_mentioned = mission != swap.text(mission)
    must_differ = is_mentioned and ProblemSets.from_text(text) != ProblemSets.from_text(swapped_text)
    if swapped.text == text and must_differ:
        return f"it writes the same problem {when}"
    if swapped.miss is not None:
        return ""
    try:
        declared = NameMap.from_pddl(draft.domain, swapped.text).objects
        names = ProblemSets.from_text(swapped.text).find_undeclared(declared)
    except PlanTextError as error:
        return f"{when}, what it writes is no problem: {error}"
    return f"{when}, its problem names what it does not declare: {names}" if names else ""


def _check_unread(unread: Written) -> str:
    """Return why the result for an unreadable mission is wrong; "" if the writer wrote no problem, as it must."""
    if unread.miss is not None:
        return ""
    return f"it must raise ValueError for a mission that it cannot read to the last word, such as '...{UNREADABLE}'"
