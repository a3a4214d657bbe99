"""CODE: a coder LLM writes the actions that a plan needs; they are merged by AST into the agent."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from llmclient import ChatGPTClient, require_repairable
from spca.code import library, merge
from spca.common.text import beginning
from spca.contracts import ActionSchema, AgentSource, CodeFailure, CodePatch, CoderMode, PlanObjection
from spca.errors import PatchError, ProviderError
from spca.llm.answer_tally import QUOTED, AnswerTally
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Message
from spca.prompts import USUAL, Wording
from spca.protocols import EventSink, RegressionCheck

MAX_ROUNDS: Final = 5
"""Repair calls after the first answer of one request for code."""


Coded = CodePatch | CodeFailure | PlanObjection
"""What comes of asking for code."""


class CoderLLM:
    """Turns missing or failing actions into a patched agent.

    Args:
        model: the coder model.
        emit: told of every call.
        client_for: makes the client of a model; a bad answer is repaired here, so the client need not ask again.
        wording: of the prompts.
        tally: told of every answer; once it is exhausted, nothing more is asked.
    """

    def __init__(
        self,
        model: ModelRef,
        emit: EventSink,
        client_for: Callable[[ModelRef], ChatGPTClient[str]] = lambda model: ChatGPTClient(model, reasks=0),
        *,
        wording: Wording = USUAL,
        tally: AnswerTally | None = None,
    ) -> None:
        self._client = client_for(model)
        self._emit = emit
        self._render = wording.render
        self._tally = tally or AnswerTally(max_barren_calls=None)

    def implement_actions(
        self,
        actions: Collection[str],
        pddl_schemas: Mapping[str, ActionSchema],
        plan_str: str,
        agent_state: Mapping[str, Any],
        past_error_log: str | None,
        *,
        agent: AgentSource,
        check: RegressionCheck | None = None,
    ) -> Coded:
        """Have the coder write ``actions``, or rewrite them if ``past_error_log`` tells how the plan failed.

        The coder may answer ``PLAN: reason`` instead, where it is the plan that is wrong. An unusable answer that
        equals an earlier one ends the try: a model that repeats itself would do so again.

        Args:
            pddl_schemas: schema of each action; its parameters fix the signature of the method.
            agent_state: what the agent knows, without the mission.
            agent: the source to patch.
            check: asked before a patch is kept; its words go back to the coder.

        Raises:
            ProviderConfigError: the model cannot be asked at all.
            ProviderDownError: it does not answer.
            BudgetReached: a cap was reached.
        """
        mode = first_mode = CoderMode.SEMANTIC if past_error_log else CoderMode.FIRST
        expected = {name: pddl_schemas[name].parameters for name in sorted(actions)}
        task = {
            "mode": mode.value,
            "actions": list(expected),
            "plan": plan_str,
            "schemas": {name: pddl_schemas[name].text for name in expected},
        }
        opening, shown = self._opening(task, agent_state, past_error_log, agent)
        messages = opening
        error = ""
        has_merged = False
        unusable = set[str]()
        for attempt in range(1 + MAX_ROUNDS):
            made = self._attempt(mode, messages, expected, agent)
            if isinstance(made, PlanObjection):
                return made
            regression = None
            source = ""
            if isinstance(made, CodePatch):
                has_merged = True
                regression = check(made.agent) if check else None
                if not regression:
                    return made
                names = library.find_involved(made.agent.text, (), regression, 0)
                source = _sources(made.agent, names, regression, {*shown, *made.changed})
            error = regression or str(made)
            if isinstance(made, str) and self._client.has_answered:
                answer = self._client.last_text or error
                if answer in unusable or self._tally.is_exhausted:
                    return CodeFailure(error, 1 + attempt, has_merged)
                unusable.add(answer)
            if not self._client.last_text:  # nothing came that could be repaired: the question is asked again
                mode = first_mode
                messages = opening
                continue
            mode = CoderMode.SEMANTIC if regression else CoderMode.SYNTAX
            if mode is CoderMode.SYNTAX and attempt < MAX_ROUNDS:
                self._emit("coder_syntax_repair", {"attempt": attempt + 1, "error": error[:500]})
            repair = self._render("coder_repair", task=task | {"mode": mode.value}, error=error, source=source)
            messages = [*opening, Message("assistant", self._client.last_text), Message("user", repair)]
        return CodeFailure(error, 1 + MAX_ROUNDS, has_merged)

    def _opening(
        self, task: Mapping[str, Any], agent_state: Mapping[str, Any], error: str | None, agent: AgentSource
    ) -> tuple[list[Message], Collection[str]]:
        """Return the question, and the methods whose source is in it."""
        error = error or ""
        told = {"task": task, "agent_state": agent_state, "error": error}
        room = library.room_for_sources(self._render("coder_task", methods="", source="", **told))
        involved = library.find_involved(agent.text, task["actions"], error, room)
        source = _sources(agent, involved, error, ())
        left = library.MAX_METHODS - max(0, len(source) - room)
        methods = library.listing(agent.text, relevant_to=task["actions"], leave_out=involved, room=left)
        text = self._render("coder_task", methods=methods, source=source, **told)
        return [Message("system", self._render("coder_system")), Message("user", text)], involved

    def _attempt(
        self,
        mode: CoderMode,
        messages: list[Message],
        expected: Mapping[str, tuple[str, ...]],
        agent: AgentSource,
    ) -> CodePatch | PlanObjection | str:
        """Make one call; return a patch, what the coder says against the plan, or what was wrong with the answer."""
        started = time.perf_counter()
        error = ""
        words = ""
        patch = None
        try:
            answer = self._client.chat_completion(messages, phase="coder", mode=mode.value)
            words = merge.objection(answer)
            if not words:
                merged = merge.merge(agent.text, merge.extract_code(answer), expected)
                patch = CodePatch(AgentSource(merged.text), merged.changed)
        except ProviderError as failure:
            require_repairable(failure, messages)
            error = str(failure)
        except PatchError as failure:
            error = str(failure)

        answer_text = self._client.last_text
        if self._client.has_answered:
            self._tally.count("coder", self._client.model, answer_text, is_usable=not error)

        event: dict[str, Any] = {
            "mode": mode.value,
            "model": str(self._client.model),
            "seconds": round(time.perf_counter() - started, 4),
            "actions": list(expected),
            "changed": list(patch.changed) if patch else [],
            **self._client.last_call(),
            "objection": words,
            "ok": not error,
            "error": error[:500],
        }
        if error:
            event["began"] = beginning(answer_text, QUOTED)
        self._emit("coder_call", event)

        if words:
            self._emit("counter_inc", {"name": "plan_objections"})
            return PlanObjection(words)
        return patch or error


def _sources(agent: AgentSource, names: Collection[str], error: str, known: Collection[str]) -> str:
    """Return sources of methods, and the places of others that the error points into, without what is known."""
    whole = [name for name in names if name not in known]
    excerpts = library.excerpts(agent.text, error, {*names, *known})
    return "\n\n".join(filter(None, (library.sources(agent.text, whole), excerpts)))
