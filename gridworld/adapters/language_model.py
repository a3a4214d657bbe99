"""A model that plays tasks by sending requests to a language model and reading its answers.

If an answer names no action, a repair request asks the model once more. If the second answer names no action either,
the model waits: the action is ``DONE`` with confidence 0.0, and the reason is recorded. No action is ever guessed.

Requests go through :class:`spca.llm.calls.desk.CallDesk`, which applies caps and retries. The desk also keeps a ledger
and transcripts for each episode.
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
from spca.llm.calls.answers import describe_exhausted_reasoning
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import sums
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Finish, Message, Provider, Request, Response
from spca.llm.providers.secrets import quote_line

_LOG: Final = logging.getLogger(__name__)

SETUP_TIMEOUT_S: Final = 15.0

_REFUSED_IMAGES: Final = re.compile(
    r"\b(image|vision|multimodal).*\bnot (be )?(support|accept)|\bnot support.*\b(image|vision|multimodal)"
    r"|\bmissing\b.*\bfor image input",
    re.IGNORECASE,
)
"""Matches the error messages of servers, with any HTTP status, which say that a model takes no images."""
_MAX_IN_REASON: Final = 200
"""Number of characters of an unreadable answer that the recorded reason quotes."""
_MAX_REPEATED: Final = 2000
"""Number of characters, from the end of an unreadable answer, that the repair request repeats to the model."""
_TOKEN_COUNTS: Final = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")


class LanguageModel(ModelInterface):
    """A language model, at a provider or on the user's own server, that plays from images or from text.

    Args:
        ref: name of the model, such as ``openai/gpt-6-luna@low``.
        asking: settings of the requests.

    Attributes:
        name: name of the model, with prefix and effort.
        asking: settings of the requests; changes take effect at the next episode.
        uses_images: whether the model is shown images. If False, each observation is described in words instead.
    """

    other: ClassVar[str] = "--model"
    """The command-line option that error messages recommend for choosing another model."""
    waits_for_server: ClassVar[bool] = True
    """Whether a request is sent again after a failed connection to a server that has never answered."""

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
        """Check that the model can be used, with checks that cost nothing.

        Raises:
            ModelError: the SDK, key, server or model is missing, or the model takes no images.
        """
        del device
        try:
            provider = self._connect().provider
        except ProviderConfigError as error:
            raise ModelError(self._describe_failure(error)) from error
        try:
            fault = self.fault(provider)
        except ProviderError as error:  # servers are not obliged to describe their models
            is_decisive = _is_absent(error) or isinstance(error, UnknownModelError)
            fault = self._describe_failure(error) if is_decisive else ""
        if fault:
            raise ModelUnavailableError(fault)

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Open the books of this episode and reset the counts.

        If an interrupted evaluation recorded answers for the same episode, the answers are reused and not paid for
        twice.
        """
        self._tiling = tiling
        with self._translate_errors():
            self._begin(self.asking.desk(task_spec, f"{seed} {backend} {tiling}"))

    def predict(self, input: ModelInput) -> ModelOutput:
        """Return the actions that the model names. If two answers in a row name no action, return ``DONE``, which
        waits.

        Raises:
            ModelError: the model gives no answer, or the input holds neither an image nor text.
        """
        most = self.asking.actions_per_call
        shows_image = bool(input.image.size)
        if not (shows_image or input.additional_context):
            raise ModelUnavailableError(f"{self.name} is neither shown nor told anything: text_observation tells it")
        system = system_text(input.action_space, self._tiling, shows_images=shows_image, most=most)
        messages = [Message("system", system), *user_messages(input, most)]
        first_answer = self._ask(messages)
        visible = strip_thoughts(first_answer.text)
        choice = self._read(visible, input)
        if choice is not None:
            return _output(choice, visible, first_answer.text)

        self._details["repairs"] += 1
        unreadable = visible[-_MAX_REPEATED:] or "(nothing)"
        messages += [Message("assistant", unreadable), Message("user", repair_text(input.action_space, most))]
        second_answer = self._ask(messages)
        repaired = strip_thoughts(second_answer.text)
        raw = f"{first_answer.text}\n\n[asked again]\n\n{second_answer.text}"
        choice = self._read(repaired, input)
        if choice is not None:
            return _output(choice, visible, raw)
        self._details["unreadable"] += 1
        quoted = (repaired or visible)[:_MAX_IN_REASON]
        why = f"no action could be read, nor after asking again: {quoted!r}{self._explain_cut(second_answer)}"
        return ModelOutput(int(Action.DONE), confidence=0.0, reasoning=why, raw_output=raw)

    def episode_details(self) -> Mapping[str, Any]:
        """Return the counts of requests, retries, repairs, unreadable answers and tokens, the cost in USD and the
        seconds.

        ``estimated`` counts requests whose tokens the server did not report. ``cost_unknown`` counts requests whose
        cost is unknown; ``cost_usd`` does not include them.
        """
        records = self._desk.ledger.records
        total = sums(records)
        return {
            "requests": len(records),
            "retries": sum(record.attempt > 1 for record in records),
            "seconds": total["latency_s"],
            **{name: total[name] for name in (*_TOKEN_COUNTS, "estimated") if total[name]},
            "cost_usd": total["cost_usd"],
            "cost_unknown": total["cost_unknown"],
            **self._details,
        }

    def describe(self) -> Mapping[str, Any]:
        """Return the name of the model, its parameters and the version of the prompt."""
        limits = self.asking.limits
        parameters: dict[str, Any] = {"temperature": limits.temperature, "max_tokens": limits.max_output_tokens}
        if self.asking.actions_per_call > 1:
            parameters["actions_per_call"] = self.asking.actions_per_call
        return {"model": self.name, **parameters, "prompt_version": PROMPT_VERSION}

    def _make(self) -> Provider:
        """Return the provider that reaches the model."""
        return self.asking.catalogue.provider(self._ref)

    def fault(self, provider: Provider) -> str:
        """Return why the model cannot play, or "" if no reason is found.

        The server is asked for the model's abilities, which costs nothing.

        Raises:
            ProviderError: the server does not have the model, or does not describe its models.
        """
        find_abilities = getattr(provider, "abilities", None)
        if not self.uses_images or find_abilities is None:
            return ""
        abilities = find_abilities(self._ref.name, SETUP_TIMEOUT_S)
        if not abilities or "vision" in abilities:  # some servers list no abilities
            return ""
        return self.blind(f"it is capable of {', '.join(abilities)}")

    def blind(self, why: str) -> str:
        """Return the error message for a model that takes no images. ``why`` is what the server says about it."""
        fix = f"name a vision model with {self.other}, or give --observation text"
        return f"{self._describe_model()} sees no images ({quote_line(why)}): {fix}"

    def failure(self, error: ProviderError) -> ModelError:
        """Return the error to raise for a failed request.

        If the prompt is too long, the error ends only the episode. Any other error ends the evaluation.
        """
        kind = ModelError if isinstance(error, PromptTooLongError) else ModelUnavailableError
        return kind(self._describe_failure(error))

    def _describe_model(self) -> str:
        return self.name

    def _describe_failure(self, error: Exception) -> str:
        return describe_error(error, self.other)

    def _begin(self, desk: CallDesk) -> None:
        """Use the desk of a new episode from now on, and reset the counts."""
        self._desk = desk
        self._details: dict[str, Any] = {"repairs": 0, "unreadable": 0}

    def _connect(self) -> _Server:
        """Return the server, and create it on the first call."""
        self._server = self._server or _Server(self, self._make())
        return self._server

    def _read(self, visible: str, input: ModelInput) -> Choice | None:
        """Return the choice that the last answer states, or None if the answer names no action.

        The desk puts an answer into the cache only if the answer states a choice.
        """
        choice = read_choice(visible, input.action_space, self.asking.actions_per_call)
        with self._translate_errors():
            if choice is None:
                self._desk.reject(self._answered)
            else:
                self._desk.accept(self._answered)
        return choice

    def _explain_cut(self, response: Response) -> str:
        """Return a note that the answer was cut off at ``max_tokens``, or "" if the answer is complete."""
        why = describe_exhausted_reasoning(response)
        if not why and response.finish is Finish.LENGTH:
            why = "the answer was cut"
        return f" ({why}; max_tokens is {self.asking.limits.max_output_tokens}: allow more)" if why else ""

    def _ask(self, messages: Iterable[Message]) -> Response:
        """Send a request and return its response. :attr:`_answered` stores the call for :meth:`_read`."""
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
        """Turn an error of a call, or of its records, into the error that ends the episode or the evaluation."""
        try:
            yield
        except BudgetReached as error:
            raise BudgetSpentError(str(error), error.flag) from error
        except ProviderError as error:
            raise self.failure(error) from error
        except UserError as error:  # such as a full disk
            raise ModelUnavailableError(str(error)) from error


def make_model(request: ModelRequest[AskedOptions]) -> LanguageModel:
    """Return the model that the request names.

    Raises:
        ModelError: no model has this name, or the key of the provider is missing.
        SettingsError: an option cannot be used, or the cost of the model cannot be capped.
    """
    ref = ModelRef.parse(request.name)
    return LanguageModel(ref, make_asking(ref, request))


class _Server:
    """The provider of a model. Its errors are translated into the errors that an evaluation expects.

    Attributes:
        has_answered: whether the server has ever answered a request.
        is_absent: whether the last request failed because no connection could be made.
    """

    def __init__(self, player: LanguageModel, provider: Provider) -> None:
        self._player = player
        self.provider = provider
        self.has_answered = False
        self.is_absent = False

    def complete(self, request: Request) -> Response:
        """Return the provider's response; raise the translated error if the provider fails."""
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
        """Return the error to raise for a failed request, and record in :attr:`is_absent` whether the connection
        failed.

        A :class:`TransientError` makes the desk send the request again. A :class:`ProviderConfigError` ends the
        evaluation.
        """
        _, _, words = str(error).partition(": ")  # without the model's name, which may contain "vision"
        self.is_absent = _is_absent(error)
        sent_images = any(message.images for message in request.messages)
        if sent_images and _REFUSED_IMAGES.search(words):
            return ProviderConfigError(self._player.blind(words))
        if isinstance(error, BadAnswerError):  # a repeated request may bring a readable answer
            return TransientError(str(error), lost=True)
        may_wait = self.has_answered or self._player.waits_for_server
        if self.is_absent and not may_wait:
            return ProviderConfigError(str(error))
        return error


def _is_absent(error: ProviderError) -> bool:
    """Return whether an error means that no connection to the server could be made."""
    return isinstance(error, TransientError) and error.status is None and not error.lost


def _output(choice: Choice, visible: str, raw: str) -> ModelOutput:
    """Return the output of the model for a choice.

    Args:
        choice: the actions that the model named.
        visible: the answer without thoughts.
        raw: all text that was received.
    """
    first, *further = choice.actions
    return ModelPlan(first, choice.confidence, reasoning=visible or None, raw_output=raw, further=further)
