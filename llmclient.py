"""One client for every model: routes a call by the prefix of the model's name and checks what comes back.

>>> client = ChatGPTClient(ModelRef.parse("reference/planner"), PDDLResp)   # doctest: +SKIP
>>> client.chat_completion([{"role": "user", "content": "..."}])   # doctest: +SKIP
PDDLResp(domain='(define ...', problem='(define ...')
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Generic, TypeVar, overload

from pydantic import BaseModel

from spca.errors import BadAnswerError
from spca.llm.calls.answers import check_complete, plain, quotable, read_object, tool_call
from spca.llm.calls.desk import Answered, CallDesk
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Limits, Message, Provider, Request, Response, Tool, Usage
from spca.prompts import render

_LOG: Final = logging.getLogger(__name__)

Schema = TypeVar("Schema", bound=BaseModel)
Answer = TypeVar("Answer")
Read = TypeVar("Read")

MAX_REASKS: Final = 2
"""Times a model is asked again, with what was wrong, after an answer that is not of the form asked for."""


class ChatGPTClient(Generic[Answer]):
    """A model and the form its answers must have.

    Args:
        model: such as ``openai/gpt-6.1-sol@high`` or ``reference/coder``.
        schema: a Pydantic class for structured answers, None for free text.
        provider: used instead of the one that the prefix names.
        desk: what the calls pass through: catalogue, ledger, transcripts, budget, retries; by default one of its own,
            in memory.
        limits: of each answer.
        reasks: how often an answer that is not of the form is asked for again with what was wrong.

    Attributes:
        last_text: the last answer as it can be quoted to the model, "" when none came or it is blank.
    """

    @overload
    def __init__(
        self: ChatGPTClient[Schema],
        model: ModelRef,
        schema: type[Schema],
        *,
        provider: Provider | None = None,
        desk: CallDesk | None = None,
        limits: Limits = Limits(),
        reasks: int = MAX_REASKS,
    ) -> None: ...
    @overload
    def __init__(
        self: ChatGPTClient[str],
        model: ModelRef,
        schema: None = None,
        *,
        provider: Provider | None = None,
        desk: CallDesk | None = None,
        limits: Limits = Limits(),
        reasks: int = MAX_REASKS,
    ) -> None: ...
    def __init__(
        self,
        model: ModelRef,
        schema: type[BaseModel] | None = None,
        *,
        provider: Provider | None = None,
        desk: CallDesk | None = None,
        limits: Limits = Limits(),
        reasks: int = MAX_REASKS,
    ) -> None:
        self.model = model
        self._schema, self._reasks = schema, reasks
        self._limits = replace(limits, effort=model.effort or limits.effort)
        self._desk = desk or CallDesk()
        self._provider = provider or self._desk.catalogue.provider(model)
        self.last_text = ""
        self._last: Answered | None = None

    def chat_completion(
        self, messages: Sequence[Message | Mapping[str, str]], *, phase: str = "", mode: str = ""
    ) -> Answer:
        """Ask the model.

        Args:
            messages: :class:`Message` values or ``{"role": ..., "content": ...}`` mappings.
            phase: who asks, for the ledger.
            mode: why.

        Raises:
            BadAnswerError: the answer is not of the form asked for, nor after all re-asks; the text says where.
            BudgetReached: a cap was reached.
            ProviderDownError: no answer came after all retries.
            ProviderConfigError: the model cannot be asked.
            ProviderError: the provider failed in another way.
        """
        request = Request(self.model.name, tuple(map(_as_message, messages)), self._schema, limits=self._limits)
        return self._asked(request, self._read, phase, mode)

    def call_tool(
        self,
        messages: Sequence[Message | Mapping[str, str]],
        tools: Sequence[Tool],
        *,
        choice: str = "required",
        phase: str = "",
        mode: str = "",
    ) -> tuple[str, BaseModel]:
        """Have the model choose a tool: the name of the first one it calls, with its validated arguments.

        Raises:
            BadAnswerError and the others: as :meth:`chat_completion`.
        """
        given = tuple(map(_as_message, messages))
        request = Request(self.model.name, given, tools=tuple(tools), tool_choice=choice, limits=self._limits)
        return self._asked(request, lambda response: tool_call(response, tools), phase, mode)

    @property
    def has_answered(self) -> bool:
        """Whether the last call brought an answer, be it an unreadable one."""
        return self._last is not None

    @property
    def last_usage(self) -> Usage:
        """Token counts of the last answer."""
        response = self._last.answer.response if self._last else None
        return response.usage if response else Usage()

    def last_call(self) -> dict[str, Any]:
        """What the last call took, as fields of an event: tokens, cost (USD, None: unknown), requests, source, file."""
        usage, last = self.last_usage, self._last
        sent = last.records if last else ()
        costs = [record.cost for record in sent]
        cost = None if None in costs else float(sum(value for value in costs if value is not None))
        return {
            "input_tokens": usage.input_tokens,
            "output_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
            "reasoning_tokens": usage.reasoning_tokens,
            "cost": cost,
            "requests": len(sent),
            "source": last.source if last else "",
            "transcript": last.transcript if last else "",
        }

    def _asked(self, request: Request, read: Callable[[Response], Read], phase: str, mode: str) -> Read:
        asked, again = request, 0
        while True:
            self.last_text, self._last = "", None
            answered = self._last = self._desk.ask(self._provider, self.model, asked, phase=phase, mode=mode)
            try:
                response = answered.answer.get()
                response = replace(response, text=plain(response.text))
                self.last_text = quotable(response)
                value = read(response)
            except BadAnswerError as error:
                self._desk.reject(answered)
                if again >= self._reasks:
                    raise
                again += 1
                _LOG.info("%s is asked again: %s", self.model, error)
                asked = replace(request, messages=(*request.messages, *_reask(self.last_text, str(error))))
                continue
            self._desk.accept(answered)
            return value

    def _read(self, response: Response) -> Answer:
        if self._schema is None:
            check_complete(response)
            return response.text  # type: ignore[return-value]  # the overloads tie Answer to the schema
        return read_object(response, self._schema)  # type: ignore[return-value]


def _reask(text: str, error: str) -> tuple[Message, ...]:
    """What is added to a conversation after a bad answer; nothing when none came that could be quoted."""
    again = Message("user", render("reask", error=error))
    return (Message("assistant", text), again) if text else (again,)


def _as_message(message: Message | Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message["role"], message["content"])
