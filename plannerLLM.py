"""PLAN: a planner LLM writes PDDL, a classical planner finds a plan for the PDDL, a validator checks the plan."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Protocol

from pydantic import BaseModel, field_validator

from llmclient import ChatGPTClient, require_repairable
from spca.code import library, merge
from spca.code.plan_check import PlanCheck
from spca.common.text import beginning
from spca.contracts import (
    AgentSource,
    FailedPlan,
    LevelInfo,
    Plan,
    PlanFailure,
    PlannerMode,
    ProblemWriter,
    Snapshot,
    SolveResult,
    TrustedPDDL,
)
from spca.errors import ProviderError
from spca.llm import feedback
from spca.llm.answer_tally import QUOTED, AnswerTally
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Message
from spca.plan import pddl
from spca.prompts import USUAL, Wording
from spca.protocols import EventSink
from spca.writers import checking

MAX_RETRIES: Final = 8
"""Maximum number of repair calls after the first answer; each call tells the model the fault of the previous answer."""


# The docstrings of the two forms are descriptions in the JSON schemas that models are given, and part of call keys:
# another wording would change prompts, and recorded runs could not be replayed.
class PDDLOnly(BaseModel):
    """The form of a planner's answer without compiled planning; a ``domain`` of null keeps the trusted one."""

    domain: str | None
    problem: str


class PDDLResp(PDDLOnly):
    """The form of a planner's answer: domain, problem and, where it is not empty, a writer of such problems.

    What is not a text counts as empty: no plan is lost to a writer.
    """

    writer_name: str = ""
    writer: str = ""

    @field_validator("writer_name", "writer", mode="before")
    @classmethod
    def _text_or_empty(cls, value: object) -> str:
        return value if isinstance(value, str) else ""


Client = ChatGPTClient[PDDLResp] | ChatGPTClient[PDDLOnly]
"""A client for answers with or without a problem writer."""


class _LatestWriter:
    """The latest problem writer among the answers to one question; answers without a writer do not remove it."""

    def __init__(self) -> None:
        self._name = ""
        self._source = ""

    def read(self, answer: PDDLOnly) -> None:
        """Take the problem writer from an answer, if the answer has one."""
        if isinstance(answer, PDDLResp) and answer.writer.strip():
            self._name = answer.writer_name.strip() or "writer"
            self._source = merge.extract_code(answer.writer)

    def make_draft(self, domain: str) -> ProblemWriter | None:
        """Return the writer as a draft for ``domain``; None if no answer had a writer."""
        return checking.draft(self._name, self._source, domain)


@dataclass(frozen=True, slots=True)
class _AnswerContext:
    """What is needed to turn an answer into a plan.

    Attributes:
        mode: where the plan comes from.
        trusted_domain: the domain to use if the answer has the domain null; None without a trusted domain.
        check: check of the plan's arguments; None for the last answer, because a doubtful plan is better than no plan.
        writer: the latest problem writer.
    """

    mode: PlannerMode
    trusted_domain: str | None
    check: PlanCheck | None
    writer: _LatestWriter


@dataclass(frozen=True, slots=True)
class _RefusedPlan:
    """The faults of a valid plan that :class:`PlanCheck` refuses; the answer still counts as usable."""

    faults: str

    def __str__(self) -> str:
        return self.faults


class SolverStage(Protocol):
    """The part of :class:`spca.plan.solver.Solver` that the planner calls."""

    def solve(self, domain: str, problem: str) -> SolveResult: ...


class PlannerLLM:
    """Turns a snapshot into a validated plan.

    Args:
        large: model for fresh plans, replanning and syntax repair.
        small: model for adapting PDDL that is already trusted.
        solver: parses PDDL, finds plans and validates plans.
        emit: receives an event for every call.
        client_for: returns the client of a model; the client need not re-ask, because the planner itself repairs bad
            answers.
        compiles: whether an answer may contain a problem writer.
        wording: wording of the prompts.
        tally: counts usable and unusable answers; when the tally is exhausted, the planner makes no more calls.
    """

    def __init__(
        self,
        large: ModelRef,
        small: ModelRef,
        solver: SolverStage,
        emit: EventSink,
        client_for: Callable[[ModelRef], Client] = lambda model: ChatGPTClient(model, PDDLResp, reasks=0),
        *,
        compiles: bool = True,
        wording: Wording = USUAL,
        tally: AnswerTally | None = None,
    ) -> None:
        models = dict.fromkeys(PlannerMode, large) | {PlannerMode.REUSE: small}
        clients = {model: client_for(model) for model in {large, small}}
        self._clients: Mapping[PlannerMode, Client] = {mode: clients[model] for mode, model in models.items()}
        self._solver = solver
        self._emit = emit
        self._compiles = compiles
        self._wording = wording
        self._body = wording.body
        self._tally = tally or AnswerTally(max_barren_calls=None)

    @property
    def has_given_up(self) -> bool:
        """Whether all answers of a whole round were unusable, so that another round is useless."""
        return self._tally.unusable_in_a_row("planner") > MAX_RETRIES

    def plan(
        self,
        snapshot: Snapshot,
        level: LevelInfo,
        actions: str,
        *,
        agent: AgentSource | None = None,
        trusted: TrustedPDDL | None = None,
        failed: Sequence[FailedPlan] = (),
        writers: Mapping[str, Any] | None = None,
    ) -> Plan | PlanFailure:
        """Ask for PDDL until it yields a valid plan, at most ``1 + MAX_RETRIES`` times; return the plan or the failure.

        If an unusable answer equals an earlier answer, the planner is not asked again, because the model is repeating
        itself.

        Args:
            actions: signatures and docstrings of the agent's high-level actions.
            agent: agent whose methods the plan calls; None for an agent without methods.
            trusted: PDDL of the last success in this category, to be adapted.
            failed: failed plans of this level, oldest first; after a failure the model is to use a new abstraction.
            writers: information for the model about the stored problem writers that did not solve this level.

        Raises:
            ProviderConfigError: the model cannot be asked at all.
            ProviderDownError: the model does not answer.
            BudgetReached: a cap was reached.
        """
        shown_pddl = library.fit_trusted_pddl(trusted) if trusted and not failed else None
        trusted_domain = shown_pddl.get("domain") if shown_pddl else None
        names = self._body.names
        known_words = None if self._wording.bare else names.list_shown_words(snapshot, level)
        check = PlanCheck(agent, known_words, names, self._wording.renaming.text)
        first_mode = _choose_mode(trusted, failed)
        context = _AnswerContext(first_mode, trusted_domain, check, _LatestWriter())
        question = self._make_question(snapshot, level, actions, shown_pddl, failed, writers)
        messages = question
        mode = first_mode
        error = ""
        unusable_answers: set[str] = set()
        for calls in range(1, 2 + MAX_RETRIES):
            client = self._clients[mode]
            is_last = calls == 1 + MAX_RETRIES
            result = self._ask_once(client, mode, messages, replace(context, check=None) if is_last else context)
            if isinstance(result, Plan):
                return result
            error = str(result)
            is_unusable = client.has_answered and not isinstance(result, _RefusedPlan)
            if is_unusable:
                answer = client.last_text or error
                if answer in unusable_answers or self._tally.is_exhausted:
                    return PlanFailure(error, calls)
                unusable_answers.add(answer)
            if not client.last_text:  # there is no answer to repair, so the question is asked again
                mode = first_mode
                messages = question
                continue
            mode = PlannerMode.SYNTAX
            repair = self._wording.render(
                "planner_repair", feedback=feedback.pddl_error(error), compiles=self._compiles
            )
            messages = [*question, Message("assistant", client.last_text), Message("user", repair)]
        return PlanFailure(error, 1 + MAX_RETRIES)

    def _make_question(
        self,
        snapshot: Snapshot,
        level: LevelInfo,
        actions: str,
        trusted: Mapping[str, str] | None,
        failed: Sequence[FailedPlan],
        writers: Mapping[str, Any] | None,
    ) -> list[Message]:
        """Return the system message and the user message that open the conversation."""
        task = self._wording.render(
            "planner_task",
            snapshot={"mission": snapshot.mission, **snapshot.shown},
            level=asdict(level),
            actions=actions,
            trusted=trusted,
            feedback=feedback.plan_failure(failed) if failed else None,
            writers=writers if self._compiles else None,
            compiles=self._compiles,
        )
        reserved = ", ".join(self._body.interface.primitives)
        system = self._wording.render("planner_system", reserved=reserved, compiles=self._compiles)
        return [Message("system", system), Message("user", task)]

    def _ask_once(
        self, client: Client, mode: PlannerMode, messages: list[Message], context: _AnswerContext
    ) -> Plan | _RefusedPlan | str:
        """Make one call; return the plan, a refused plan, or the fault of the answer. Tally and emit the call."""
        started = time.perf_counter()
        error = ""
        solve_seconds = 0.0
        keeps_domain = False
        outcome: Plan | _RefusedPlan | str = ""
        try:
            answer = client.chat_completion(messages, phase="planner", mode=mode.value)
        except ProviderError as failure:
            require_repairable(failure, messages)
            error = str(failure)
        call_seconds = time.perf_counter() - started

        if not error:
            keeps_domain = answer.domain is None
            context.writer.read(answer)
            domain = context.trusted_domain if answer.domain is None else answer.domain
            outcome = self._solve(domain, answer.problem, context)
            solve_seconds = time.perf_counter() - started - call_seconds
            error = "" if isinstance(outcome, Plan) else str(outcome)

        is_usable = isinstance(outcome, Plan | _RefusedPlan)
        if client.has_answered:
            self._tally.count("planner", client.model, client.last_text, is_usable=is_usable)

        event: dict[str, Any] = {
            "mode": mode.value,
            "model": str(client.model),
            "seconds": round(call_seconds, 4),
            "solve_s": round(solve_seconds, 4),
            **client.last_call(),
            "kept_domain": keeps_domain,
            "ok": not error,
            "error": error[:500],
        }
        if not is_usable:
            event["began"] = beginning(client.last_text, QUOTED)
        self._emit("planner_call", event)
        return outcome or error

    def _solve(self, domain: str | None, problem: str, context: _AnswerContext) -> Plan | _RefusedPlan | str:
        """Return the plan for the PDDL, a plan that the check refuses, or the fault of the PDDL."""
        if domain is None:
            return 'the domain is null, but there is no <trusted_pddl> with one to keep: write the whole "domain"'
        plan = pddl.plan_of(self._solver.solve, domain, problem, context.mode, self._body.interface)
        if isinstance(plan, str):
            return plan
        if context.check:
            schemas = {schema.name: schema for schema in plan.schemas}
            spellings = pddl.NameMap.from_pddl(domain, problem).objects
            if faults := context.check.faults(plan.steps, schemas, spellings):
                return _RefusedPlan(faults)
        return replace(plan, draft=context.writer.make_draft(domain))


def _choose_mode(trusted: TrustedPDDL | None, failed: Sequence[FailedPlan]) -> PlannerMode:
    """Return the mode of the first call: replan after a failed plan, else reuse trusted PDDL, else plan afresh."""
    if failed:
        return PlannerMode.REPLAN
    return PlannerMode.REUSE if trusted else PlannerMode.FRESH
