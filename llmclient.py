"""One client for every model: routes a call by the prefix of the model's name, and checks the answer.

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
from spca.llm.providers.base import Message, Provider, Request, RequestOptions, Response, Usage
from spca.prompts import render

_LOG: Final = logging.getLogger(__name__)

Answer = TypeVar("Answer")

MAX_REASKS: Final = 2
"""How often a model is asked again after an answer of a wrong form; each time, the model is told the fault."""


class ChatGPTClient(Generic[Answer]):
    """Asks one model for answers of one form.

    Args:
        model: the model, such as ``openai/gpt-6.1-sol@high`` or ``reference/coder``.
        schema: Pydantic class of structured answers; None for free text, where the client is a ``ChatGPTClient[str]``.
        provider: provider to use instead of the provider of the model's prefix.
        desk: passes the calls on, with catalogue, ledger, transcripts, budget and retries; by default a new desk that
            keeps its records in memory.
        limits: limits of each answer.
        reasks: how often the model is asked again after an answer of a wrong form.

    Attributes:
        last_text: the last answer, shortened for quoting to the model; "" without an answer or if the answer is blank.
    """

    def __init__(
        self,
        model: ModelRef,
        schema: type[Answer] | None = None,
        *,
        provider: Provider | None = None,
        desk: CallDesk | None = None,
        limits: RequestOptions = RequestOptions(),
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
        """Ask the model, and return its answer.

        Args:
            messages: :class:`Message` values or ``{"role": ..., "content": ...}`` mappings.
            phase: role that asks, such as "planner", for the ledger.
            mode: purpose of the call, for the ledger.

        Raises:
            BadAnswerError: the answer has a wrong form, even after all re-asks; the message names the fault.
            BudgetReached: a cap was reached.
            ProviderDownError: no answer came after all retries.
            ProviderConfigError: the model cannot be asked.
            ProviderError: the provider failed in another way.
        """
        conversation = tuple(map(_make_message, messages))
        first_request = Request(self.model.name, conversation, self._schema, limits=self._limits)
        request = first_request
        reasks = 0
        while True:
            self.last_text = ""
            self._last = None
            answered = self._last = self._desk.ask(self._provider, self.model, request, phase=phase, mode=mode)
            try:
                response = answered.answer.get()
                response = replace(response, text=plain(response.text))
                self.last_text = quotable(response)
                value = self._read(response)
            except BadAnswerError as error:
                self._desk.reject(answered)
                if reasks >= self._reasks:
                    raise
                reasks += 1
                _LOG.info("%s is asked again: %s", self.model, error)
                request = replace(first_request, messages=(*conversation, *_reask(self.last_text, str(error))))
                continue
            self._desk.accept(answered)
            return value

    @property
    def has_answered(self) -> bool:
        """Whether the last call got an answer, readable or not."""
        return self._last is not None

    def last_call(self) -> dict[str, Any]:
        """Return fields for an event about the last call: tokens, cost, requests, source and transcript file.

        The cost is in USD, None if the cost of a request is unknown.
        """
        last = self._last
        response = last.answer.response if last else None
        usage = response.usage if response else Usage()
        records = last.records if last else ()
        known_costs = [record.cost for record in records if record.cost is not None]
        has_unknown_cost = len(known_costs) < len(records)
        return {
            **asdict(usage),
            "cost": None if has_unknown_cost else float(sum(known_costs)),
            "requests": len(records),
            "source": last.source if last else "",
            "transcript": last.transcript if last else "",
        }

    def _read(self, response: Response) -> Answer:
        """Return the text or the object in a complete answer; raise BadAnswerError for any other answer."""
        if self._schema is None:
            check_complete(response)
            return cast(Answer, response.text)
        return cast(Answer, read_object(response, self._schema))


def require_repairable(error: ProviderError, messages: Sequence[Message]) -> None:
    """Raise ``error`` if asking again is useless, because the model cannot be asked or does not answer.

    Do not raise the error if a repair request is too long for the model. Asking the question alone may succeed, because
    the question alone is shorter.

    Args:
        error: the error of the failed call.
        messages: the messages of the failed call, at least two. They end with the question or, in a repair request,
            with a bad answer and its fault.
    """
    is_repair = messages[-2].role == "assistant"
    if isinstance(error, PromptTooLongError) and is_repair:
        return
    if isinstance(error, ProviderConfigError | ProviderDownError):
        raise error


def _reask(text: str, error: str) -> tuple[Message, ...]:
    """Return the messages that a re-ask adds to the question: the bad answer unless blank, and its fault.

    Args:
        text: the bad answer, "" if it cannot be quoted.
        error: the fault of the answer.
    """
    fault = Message("user", render("reask", error=error))
    return (Message("assistant", text), fault) if text else (fault,)


def _make_message(message: Message | Mapping[str, str]) -> Message:
    return message if isinstance(message, Message) else Message(message["role"], message["content"])
