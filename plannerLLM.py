"""PLAN: a planner LLM writes PDDL, a classical planner solves it, an independent validator checks the plan."""

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
    PRIMITIVE_METHODS,
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
from spca.sense.map_text import planner_state
from spca.sense.object_names import words_told
from spca.writers import checking

MAX_RETRIES: Final = 8
"""Repair calls after the first answer, each fed with the exact message of what was wrong."""


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
    def _text(cls, value: object) -> str:
        return value if isinstance(value, str) else ""


Client = ChatGPTClient[PDDLResp] | ChatGPTClient[PDDLOnly]
"""Asks a model for either form."""


class _Draft:
    """The problem writer that came with the answers to one question: a repair that leaves it out keeps it."""

    def __init__(self) -> None:
        self._name = self._source = ""

    def read(self, answer: PDDLOnly) -> None:
        if isinstance(answer, PDDLResp) and answer.writer.strip():
            self._name = answer.writer_name.strip() or "writer"
            self._source = merge.extract_code(answer.writer)

    def make_draft(self, domain: str) -> ProblemWriter | None:
        return checking.draft(self._name, self._source, domain)


@dataclass(frozen=True, slots=True)
class _PlanRequest:
    """What an answer is read with: why it was asked for, the domain that null stands for, what plans have to fit.

    The last answer has no ``check``: no plan is lost to what may be right.
    """

    mode: PlannerMode
    kept: str | None
    check: PlanCheck | None
    draft: _Draft


@dataclass(frozen=True, slots=True)
class _RefusedPlan:
    """What speaks against a valid plan: the model works, and may be right."""

    faults: str

    def __str__(self) -> str:
        return self.faults


class SolverStage(Protocol):
    """What the planner needs of :class:`spca.plan.solver.Solver`."""

    def solve(self, domain: str, problem: str) -> SolveResult: ...


class PlannerLLM:
    """Turns a snapshot into a validated plan.

    Args:
        large: model for fresh plans, replanning and syntax repair.
        small: model for adapting PDDL that is already trusted.
        solver: parses, solves and validates.
        emit: told of every call.
        client_for: makes the client of a model; a bad answer is repaired here, so the client need not ask again.
        compiles: whether an answer may carry a problem writer.
        wording: of the prompts.
        tally: told of every answer; once it is exhausted, nothing more is asked.
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
        self._clients: Mapping[PlannerMode, Client] = {m: clients[models[m]] for m in PlannerMode}
        self._solver = solver
        self._emit = emit
        self._compiles = compiles
        self._wording = wording
        self._tally = tally or AnswerTally(max_barren_calls=None)

    @property
    def has_given_up(self) -> bool:
        """Whether so many answers in a row were unusable that another round would be asked in vain."""
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
        """Ask for PDDL until it yields a valid plan, at most ``1 + MAX_RETRIES`` times.

        An unusable answer that equals an earlier one ends the try: a model that repeats itself would do so again.

        Args:
            actions: signatures and docstrings of the agent's high-level actions.
            agent: whose methods a plan has to fit; None for one without any.
            trusted: PDDL of the last success in this category, to be adapted.
            failed: plans of this level that did not solve it, oldest first; they call for a new abstraction.
            writers: what the model is told of the stored problem writers, none of which has helped here.

        Raises:
            ProviderConfigError: the model cannot be asked at all.
            ProviderDownError: it does not answer.
            BudgetReached: a cap was reached.
        """
        first_mode = PlannerMode.REPLAN if failed else PlannerMode.REUSE if trusted else PlannerMode.FRESH
        shown = library.fit_trusted_pddl(trusted) if trusted and not failed else None
        told = None if self._wording.bare else words_told(snapshot, level)
        check = PlanCheck(agent, told, self._wording.renaming)
        asked = _PlanRequest(first_mode, (shown or {}).get("domain"), check, _Draft())
        opening = self._opening(snapshot, level, actions, shown, failed, writers)
        messages = opening
        mode = first_mode
        error = ""
        unusable = set[str]()
        for calls in range(1, 2 + MAX_RETRIES):
            client = self._clients[mode]
            is_last = calls == 1 + MAX_RETRIES
            result = self._attempt(client, mode, messages, replace(asked, check=None) if is_last else asked)
            if isinstance(result, Plan):
                return result
            error = str(result)
            if client.has_answered and not isinstance(result, _RefusedPlan):
                answer = client.last_text or error
                if answer in unusable or self._tally.is_exhausted:
                    return PlanFailure(error, calls)
                unusable.add(answer)
            if not client.last_text:  # nothing came that could be repaired: the question is asked again
                mode = first_mode
                messages = opening
                continue
            mode = PlannerMode.SYNTAX
            repair = self._wording.render(
                "planner_repair", feedback=feedback.pddl_error(error), compiles=self._compiles
            )
            messages = [*opening, Message("assistant", client.last_text), Message("user", repair)]
        return PlanFailure(error, 1 + MAX_RETRIES)

    def _opening(
        self,
        snapshot: Snapshot,
        level: LevelInfo,
        actions: str,
        trusted: Mapping[str, str] | None,
        failed: Sequence[FailedPlan],
        writers: Mapping[str, Any] | None,
    ) -> list[Message]:
        task = self._wording.render(
            "planner_task",
            snapshot=planner_state(snapshot),
            level=asdict(level),
            actions=actions,
            trusted=trusted,
            feedback=feedback.plan_failure(failed) if failed else None,
            writers=writers if self._compiles else None,
            compiles=self._compiles,
        )
        system = self._wording.render("planner_system", reserved=", ".join(PRIMITIVE_METHODS), compiles=self._compiles)
        return [Message("system", system), Message("user", task)]

    def _attempt(
        self, client: Client, mode: PlannerMode, messages: list[Message], asked: _PlanRequest
    ) -> Plan | _RefusedPlan | str:
        """Make one call; return a plan, or what was wrong with the answer."""
        started = time.perf_counter()
        error = ""
        solved_in = 0.0
        keeps = False
        outcome: Plan | _RefusedPlan | str = ""
        try:
            answer = client.chat_completion(messages, phase="planner", mode=mode.value)
        except ProviderError as failure:
            require_repairable(failure, messages)
            error = str(failure)
        seconds = time.perf_counter() - started

        if not error:
            keeps = answer.domain is None
            asked.draft.read(answer)
            domain = asked.kept if answer.domain is None else answer.domain
            outcome = self._solve(domain, answer.problem, asked)
            solved_in = time.perf_counter() - started - seconds
            error = "" if isinstance(outcome, Plan) else str(outcome)

        is_usable = isinstance(outcome, Plan | _RefusedPlan)
        if client.has_answered:
            self._tally.count("planner", client.model, client.last_text, is_usable=is_usable)

        event: dict[str, Any] = {
            "mode": mode.value,
            "model": str(client.model),
            "seconds": round(seconds, 4),
            "solve_s": round(solved_in, 4),
            **client.last_call(),
            "kept_domain": keeps,
            "ok": not error,
            "error": error[:500],
        }
        if not is_usable:
            event["began"] = beginning(client.last_text, QUOTED)
        self._emit("planner_call", event)
        return outcome or error

    def _solve(self, domain: str | None, problem: str, asked: _PlanRequest) -> Plan | _RefusedPlan | str:
        if domain is None:
            return 'the domain is null, but there is no <trusted_pddl> with one to keep: write the whole "domain"'
        plan = pddl.plan_of(self._solver.solve, domain, problem, asked.mode)
        if isinstance(plan, str):
            return plan
        if asked.check:
            schemas = {schema.name: schema for schema in plan.schemas}
            written = pddl.NameMap.from_pddl(domain, problem).objects
            if faults := asked.check.faults(plan.steps, schemas, written):
                return _RefusedPlan(faults)
        return replace(plan, draft=asked.draft.make_draft(domain))
