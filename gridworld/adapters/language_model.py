"""A language model as a model that plays: asking, asking again, and reading the answer.

An answer that names no action gets one request for a better one; if that fails too, the action is to wait, with
confidence 0.0 and the reason: nothing is guessed. Requests go through :class:`spca.llm.calls.desk.CallDesk`: caps,
retries, a ledger and transcripts for each episode.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, ClassVar, Final

from gridworld.actions import Action
from gridworld.adapters.admission import describe_error, make_asking
from gridworld.adapters.answers import Choice, read_choice, strip_thoughts
from gridworld.adapters.asking import Asking
from gridworld.adapters.prompting import PROMPT_VERSION, repair_text, system_text, user_messages
from gridworld.errors import BudgetSpentError, ModelError, ModelUnavailableError
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput, ModelPlan
from gridworld.evaluation.models.model_options import AskedOptions, ModelRequest
from gridworld.task_spec import TaskSpecification
from spca.common.errors import BudgetReached, UserError
from spca.common.jobs.processes import unbroken
from spca.errors import (
    BadAnswerError,
    PromptTooLongError,
    ProviderConfigError,
    ProviderError,
    TransientError,
    UnknownModelError,
)
from spca.llm.calls.answers import reasoned_away
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import sums
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Finish, Message, Provider, Request, Response
from spca.llm.providers.secrets import quoted

_LOG: Final = logging.getLogger(__name__)

SETUP_TIMEOUT_S: Final = 15.0

_BLIND: Final = re.compile(
    r"\b(image|vision|multimodal).*\bnot (be )?(support|accept)|\bnot support.*\b(image|vision|multimodal)"
    r"|\bmissing\b.*\bfor image input",
    re.IGNORECASE,
)
"""What servers say, with any status, where a model takes no images."""
_SHOWN: Final = 200
_REPEATED: Final = 2000
"""Characters of an unreadable answer that the model is shown again."""
_COUNTED: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")


class LanguageModel(ModelInterface):
    """A model of a provider, or behind a server of one's own, that plays what it sees or is told.

    Args:
        ref: such as ``openai/gpt-6-luna@low``.
        asking: how it is asked.

    Attributes:
        name: of the model, with prefix and effort.
        asking: as given; changes hold from the next episode on.
        uses_images: set to False, it is told in words what there is to see.
    """

    other: ClassVar[str] = "--model"
    """The option that names another model."""
    waits_for_server: ClassVar[bool] = True
    """Whether a server that was never there is asked again."""

    def __init__(self, ref: ModelRef, asking: Asking | None = None) -> None:
        self._ref = ref
        self.name = str(ref)
        self.asking = asking or Asking()
        self._tiling = "square"
        self._server: _Server | None = None
        self._begin(self.asking.desk())

    @property
    def model_name(self) -> str:
        return self.name

    def setup(self, device: str = "cpu") -> None:
        """See that the model can be asked, as far as that is known without paying.

        Raises:
            ModelError: the SDK, key, server or model is missing, or the model sees no images; names the fix.
        """
        del device
        try:
            provider = self._connect().provider
        except ProviderConfigError as error:
            raise ModelError(self._describe_failure(error)) from error
        try:
            fault = self.fault(provider)
        except ProviderError as error:  # a server need not tell of its models
            is_decisive = _is_absent(error) or isinstance(error, UnknownModelError)
            fault = self._describe_failure(error) if is_decisive else ""
        if fault:
            raise ModelUnavailableError(fault)

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Begin to count anew; of the task only name and tiling are looked at.

        What an evaluation that was interrupted in this episode has been answered is not asked again.
        """
        self._tiling = tiling
        with self._translate_errors():
            self._begin(self.asking.desk(task_spec, f"{seed} {backend} {tiling}"))

    def predict(self, input: ModelInput) -> ModelOutput:
        """Return the action that the model names, and those to follow; wait if it names none twice.

        Raises:
            ModelError: there is no answer; names the fix.
        """
        most = self.asking.actions_per_call
        shows = bool(input.image.size)
        if not (shows or input.additional_context):
            raise ModelUnavailableError(f"{self.name} is neither shown nor told anything: text_observation tells it")
        system = system_text(input.action_space, self._tiling, shows_images=shows, most=most)
        messages = [Message("system", system), *user_messages(input, most)]
        first = self._ask(messages)
        visible = strip_thoughts(first.text)
        choice = self._read(visible, input)
        if choice is not None:
            return _output(choice, visible, first.text)
        self._details["repairs"] += 1
        said = visible[-_REPEATED:] or "(nothing)"
        messages += [Message("assistant", said), Message("user", repair_text(input.action_space, most))]
        second = self._ask(messages)
        repaired = strip_thoughts(second.text)
        raw = f"{first.text}\n\n[asked again]\n\n{second.text}"
        choice = self._read(repaired, input)
        if choice is not None:
            return _output(choice, visible, raw)
        self._details["unreadable"] += 1
        why = f"no action could be read, nor after asking again: {(repaired or visible)[:_SHOWN]!r}{self._cut(second)}"
        return ModelOutput(int(Action.DONE), confidence=0.0, reasoning=why, raw_output=raw)

    def episode_details(self) -> Mapping[str, Any]:
        """Return requests, retries, repairs, unreadable answers, tokens, USD and seconds.

        ``estimated`` counts the requests whose tokens the server did not tell, ``cost_unknown`` those whose cost is
        unknown: it is in none of ``cost_usd``.
        """
        records = self._desk.ledger.records
        total = sums(records)
        return {
            "requests": len(records),
            "retries": sum(record.attempt > 1 for record in records),
            "seconds": total["latency_s"],
            **{name: total[name] for name in (*_COUNTED, "estimated") if total[name]},
            "cost_usd": total["cost_usd"],
            "cost_unknown": total["cost_unknown"],
            **self._details,
        }

    def describe(self) -> Mapping[str, Any]:
        """Name, parameters and version of the prompt."""
        limits = self.asking.limits
        told = {"temperature": limits.temperature, "max_tokens": limits.max_output_tokens}
        more = {"actions_per_call": self.asking.actions_per_call} if self.asking.actions_per_call > 1 else {}
        return {"model": self.name, **told, **more, "prompt_version": PROMPT_VERSION}

    def _make(self) -> Provider:
        """Return the provider that reaches the model."""
        return self.asking.catalogue.provider(self._ref)

    def fault(self, provider: Provider) -> str:
        """Ask the server for what it knows of the model, where that costs nothing; return why it cannot play, or "".

        Raises:
            ProviderError: it does not have it, or does not tell.
        """
        abilities = getattr(provider, "abilities", None)
        if not self.uses_images or abilities is None:
            return ""
        able = abilities(self._ref.name, SETUP_TIMEOUT_S)
        return "" if not able or "vision" in able else self.blind(f"it is able of {', '.join(able)}")

    def blind(self, why: str) -> str:
        """Return what is wrong with a model that takes no images."""
        fix = f"name a vision model with {self.other}, or give --observation text"
        return f"{self._describe_model()} sees no images ({quoted(why)}): {fix}"

    def failure(self, error: ProviderError) -> ModelError:
        """Return what a request that came to nothing means: a prompt too long fails the episode, else nobody plays."""
        kind = ModelError if isinstance(error, PromptTooLongError) else ModelUnavailableError
        return kind(self._describe_failure(error))

    def _describe_model(self) -> str:
        return self.name

    def _describe_failure(self, error: Exception) -> str:
        return describe_error(error, self.other)

    def _begin(self, desk: CallDesk) -> None:
        self._desk = desk
        self._details: dict[str, Any] = {"repairs": 0, "unreadable": 0}

    def _connect(self) -> _Server:
        self._server = self._server or _Server(self, self._make())
        return self._server

    def _read(self, visible: str, input: ModelInput) -> Choice | None:
        """Return the choice in an answer; only an answer that holds one may be served from the cache."""
        choice = read_choice(visible, input.action_space, self.asking.actions_per_call)
        with self._translate_errors():
            (self._desk.reject if choice is None else self._desk.accept)(self._answered)
        return choice

    def _cut(self, response: Response) -> str:
        why = reasoned_away(response) or ("the answer was cut" if response.finish is Finish.LENGTH else "")
        return f" ({why}; max_tokens is {self.asking.limits.max_output_tokens}: allow more)" if why else ""

    def _ask(self, messages: Iterable[Message]) -> Response:
        with self._translate_errors():
            server = self._connect()
            limits = replace(self.asking.limits, effort=self._ref.effort)
            request = Request(self._ref.name, tuple(messages), limits=limits)
            with unbroken():
                self._answered = self._desk.ask(server, self._ref, request, phase="play")
        response = self._answered.answer.get()
        if response.served not in ("", self._ref.name):
            self._details["served_model"] = response.served
        return response

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise the error that ends the evaluation, or this episode, where a call or its records fail."""
        try:
            yield
        except BudgetReached as error:
            raise BudgetSpentError(str(error), error.flag) from error
        except ProviderError as error:
            raise self.failure(error) from error
        except UserError as error:  # such as a full disk
            raise ModelUnavailableError(str(error)) from error


def make_model(request: ModelRequest[AskedOptions]) -> LanguageModel:
    """Return the model that the request names; raises what :func:`make_asking` does."""
    ref = ModelRef.parse(request.name)
    return LanguageModel(ref, make_asking(ref, request))


class _Server:
    """The provider of a model, with failures as an evaluation takes them."""

    def __init__(self, player: LanguageModel, provider: Provider) -> None:
        self._player = player
        self.provider = provider
        self.has_answered = self.is_absent = False

    def complete(self, request: Request) -> Response:
        try:
            response = self.provider.complete(request)
        except ProviderError as error:
            _LOG.info("no answer: %s", error)
            translated = self._translate_error(error, request)
            if translated is error:
                raise
            raise translated from error
        self.has_answered = True
        return response

    def _translate_error(self, error: ProviderError, request: Request) -> ProviderError:
        words = str(error).partition(": ")[2]  # without the name of the model, which may speak of vision
        self.is_absent = _is_absent(error)
        if _BLIND.search(words) and any(message.images for message in request.messages):
            return ProviderConfigError(self._player.blind(words))
        if isinstance(error, BadAnswerError):  # another one may be readable
            return TransientError(str(error), lost=True)
        if self.is_absent and not (self.has_answered or self._player.waits_for_server):
            return ProviderConfigError(str(error))
        return error


def _is_absent(error: ProviderError) -> bool:
    """Return whether no connection could be made."""
    return isinstance(error, TransientError) and error.status is None and not error.lost


def _output(choice: Choice, visible: str, raw: str) -> ModelOutput:
    first, *further = choice.actions
    return ModelPlan(first, choice.confidence, reasoning=visible or None, raw_output=raw, further=further)
