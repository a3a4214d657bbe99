"""One client for every model: routes a call by the prefix of the model's name and checks what comes back.

>>> client = ChatGPTClient(ModelRef.parse("reference/planner"), PDDLResp)   # doctest: +SKIP
>>> client.chat_completion([{"role": "user", "content": "..."}])   # doctest: +SKIP
PDDLResp(domain='(define ...', problem='(define ...')
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any, Final, Generic, TypeVar, cast

from pydantic import BaseModel

from spca.errors import BadAnswerError, PromptTooLongError, ProviderConfigError, ProviderDownError, ProviderError
from spca.llm.calls.answers import check_complete, plain, quotable, read_object
from spca.llm.calls.desk import Answered, CallDesk
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Limits, Message, Provider, Request, Response, Usage
from spca.prompts import render

_LOG: Final = logging.getLogger(__name__)

Answer = TypeVar("Answer")

MAX_REASKS: Final = 2
"""Times a model is asked again, with what was wrong, after an answer that is not of the form asked for."""


class ChatGPTClient(Generic[Answer]):
    """A model and the form its answers must have.

    Args:
        model: such as ``openai/gpt-6.1-sol@high`` or ``reference/coder``.
        schema: a Pydantic class for structured answers, None for free text: :class:`ChatGPTClient` of ``str``.
        provider: used instead of the one that the prefix names.
        desk: what the calls pass through: catalogue, ledger, transcripts, budget, retries; by default one of its own,
            in memory.
        limits: of each answer.
        reasks: how often an answer that is not of the form is asked for again with what was wrong.

    Attributes:
        last_text: the last answer as it can be quoted to the model, "" when none came or it is blank.
    """

    def __init__(
        self,
        model: ModelRef,
        schema: type[Answer] | None = None,
        *,
        provider: Provider | None = None,
        desk: CallDesk | None = None,
        limits: Limits = Limits(),
        reasks: int = MAX_REASKS,
    ) -> None:
        self.model = model
        self._schema = cast(type[BaseModel] | None, schema)
        self._reasks = reasks
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
        request = Request(self.model.name, tuple(map(_make_message, messages)), self._schema, limits=self._limits)
        asked = request
        again = 0
        while True:
            self.last_text = ""
            self._last = None
            answered = self._last = self._desk.ask(self._provider, self.model, asked, phase=phase, mode=mode)
            try:
                response = answered.answer.get()
                response = replace(response, text=plain(response.text))
                self.last_text = quotable(response)
                value = self._read(response)
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

    @property
    def has_answered(self) -> bool:
        """Whether the last call brought an answer, be it an unreadable one."""
        return self._last is not None

    def last_call(self) -> dict[str, Any]:
        """What the last call took, as fields of an event: tokens, cost (USD, None: unknown), requests, source, file."""
        last = self._last
        response = last.answer.response if last else None
        usage = response.usage if response else Usage()
        sent = last.records if last else ()
        costs = [record.cost for record in sent]
        return {
            **asdict(usage),
            "cost": None if None in costs else float(sum(value for value in costs if value is not None)),
            "requests": len(sent),
            "source": last.source if last else "",
            "transcript": last.transcript if last else "",
        }

    def _read(self, response: Response) -> Answer:
        if self._schema is None:
            check_complete(response)
            return cast(Answer, response.text)
        return cast(Answer, read_object(response, self._schema))


def require_repairable(error: ProviderError, messages: Sequence[Message]) -> None:
    """Raise the error unless a further question may mend it: it may where a repair is too long for the model.

    Args:
        messages: what was asked; the question alone, or with an answer and what was wrong with it.
    """
    is_repair = messages[-2].role == "assistant"
    if isinstance(error, PromptTooLongError) and is_repair:
        return
    if isinstance(error, ProviderConfigError | ProviderDownError):
        raise error


def _reask(text: str, error: str) -> tuple[Message, ...]:
    """What is added to a conversation after a bad answer; nothing when none came that could be quoted."""
    again = Message("user", render("reask", error=error))
    return (Message("assistant", text), again) if text else (again,)


def _make_message(message: Message | Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message["role"], message["content"])
