"""CODE: a coder LLM writes the code of the actions in a plan; the code is merged into the agent's syntax tree."""

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
"""Maximum number of repair calls after the first answer to a request for code."""


Coded = CodePatch | CodeFailure | PlanObjection
"""Result of a request for code."""


class CoderLLM:
    """Writes missing actions and rewrites failing actions of the agent.

    Args:
        model: the coder model.
        emit: receives an event for every call.
        client_for: returns the client of a model; the client need not re-ask, because the coder itself repairs bad
            answers.
        wording: wording of the prompts.
        tally: counts usable and unusable answers; when the tally is exhausted, the coder makes no more calls.
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
        self._interface = wording.body.interface
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
        """Ask the coder for the code of ``actions``, at most ``1 + MAX_ROUNDS`` times.

        Return the patch, the coder's objection to the plan (the answer ``PLAN: reason``), or the failure. If an
        unusable answer equals an earlier answer, the coder is not asked again, because the model is repeating itself.

        Args:
            actions: names of the actions to write, or to rewrite if ``past_error_log`` reports a failure of the plan.
            pddl_schemas: schema of each action; its parameters fix the signature of the method.
            agent_state: what the agent knows, without the mission.
            agent: the agent to patch.
            check: regression check of each patch; its report goes back to the coder.

        Raises:
            ProviderConfigError: the model cannot be asked at all.
            ProviderDownError: the model does not answer.
            BudgetReached: a cap was reached.
        """
        mode = first_mode = CoderMode.SEMANTIC if past_error_log else CoderMode.FIRST
        parameters = {name: pddl_schemas[name].parameters for name in sorted(actions)}
        task = {
            "mode": mode.value,
            "actions": list(parameters),
            "plan": plan_str,
            "schemas": {name: pddl_schemas[name].text for name in parameters},
        }
        question, shown = self._make_question(task, agent_state, past_error_log, agent)
        messages = question
        error = ""
        has_merged = False
        unusable_answers: set[str] = set()
        for attempt in range(1 + MAX_ROUNDS):
            result = self._ask_once(mode, messages, parameters, agent)
            if isinstance(result, PlanObjection):
                return result
            regression = None
            source = ""
            if isinstance(result, CodePatch):
                has_merged = True
                regression = check(result.agent) if check else None
                if not regression:
                    return result
                names = library.find_involved(result.agent.text, (), self._interface.primitives, regression, 0)
                source = self._find_sources(result.agent, names, regression, {*shown, *result.changed})
            error = regression or str(result)
            if isinstance(result, str) and self._client.has_answered:
                answer = self._client.last_text or error
                if answer in unusable_answers or self._tally.is_exhausted:
                    return CodeFailure(error, 1 + attempt, has_merged)
                unusable_answers.add(answer)
            if not self._client.last_text:  # there is no answer to repair, so the question is asked again
                mode = first_mode
                messages = question
                continue
            mode = CoderMode.SEMANTIC if regression else CoderMode.SYNTAX
            if mode is CoderMode.SYNTAX and attempt < MAX_ROUNDS:
                self._emit("coder_syntax_repair", {"attempt": attempt + 1, "error": error[:500]})
            repair = self._render("coder_repair", task=task | {"mode": mode.value}, error=error, source=source)
            messages = [*question, Message("assistant", self._client.last_text), Message("user", repair)]
        return CodeFailure(error, 1 + MAX_ROUNDS, has_merged)

    def _make_question(
        self, task: Mapping[str, Any], agent_state: Mapping[str, Any], error: str | None, agent: AgentSource
    ) -> tuple[list[Message], Collection[str]]:
        """Return the messages that open the conversation, and the names of the methods whose source they contain."""
        error = error or ""
        fixed_parts = {"task": task, "agent_state": agent_state, "error": error}
        room = library.room_for_sources(self._render("coder_task", methods="", source="", **fixed_parts))
        primitives = self._interface.primitives
        involved = library.find_involved(agent.text, task["actions"], primitives, error, room)
        source = self._find_sources(agent, involved, error, ())
        excess = max(0, len(source) - room)  # in characters, taken from the room for the list of methods
        methods_room = library.MAX_METHODS - excess
        methods = library.listing(
            agent.text, primitives, relevant_to=task["actions"], leave_out=involved, room=methods_room
        )
        text = self._render("coder_task", methods=methods, source=source, **fixed_parts)
        return [Message("system", self._render("coder_system")), Message("user", text)], involved

    def _ask_once(
        self,
        mode: CoderMode,
        messages: list[Message],
        parameters: Mapping[str, tuple[str, ...]],
        agent: AgentSource,
    ) -> CodePatch | PlanObjection | str:
        """Make one call; return the patch, the coder's objection to the plan, or the fault of the answer.

        Tally and emit the call.

        Args:
            parameters: names of the parameters of each action to write.
        """
        started = time.perf_counter()
        error = ""
        objection = ""
        patch = None
        try:
            answer = self._client.chat_completion(messages, phase="coder", mode=mode.value)
            objection = merge.objection(answer)
            if not objection:
                merged = merge.merge(agent.text, merge.extract_code(answer), self._interface, parameters)
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
            "actions": list(parameters),
            "changed": list(patch.changed) if patch else [],
            **self._client.last_call(),
            "objection": objection,
            "ok": not error,
            "error": error[:500],
        }
        if error:
            event["began"] = beginning(answer_text, QUOTED)
        self._emit("coder_call", event)

        if objection:
            self._emit("counter_inc", {"name": "plan_objections"})
            return PlanObjection(objection)
        return patch or error

    def _find_sources(self, agent: AgentSource, names: Collection[str], error: str, known: Collection[str]) -> str:
        """Return the sources of the methods ``names``, then excerpts of other methods that the error names.

        Methods in ``known`` are left out, because the coder has already been shown their source.
        """
        new_names = [name for name in names if name not in known]
        sources = library.sources(agent.text, new_names)
        excerpts = library.excerpts(agent.text, error, self._interface.primitives, {*names, *known})
        return "\n\n".join(filter(None, (sources, excerpts)))
