"""What all vision models behind servers have in common: asking, asking again, and reading the answer.

An answer that names no action gets one request for a better one; if that fails too, the action is to wait, with
confidence 0.0 and the reason: nothing is guessed. Requests go through :class:`spca.llm.calls.desk.CallDesk`, which
repeats one that fails in a way that may pass ``request_retries`` times. Nothing but ``base_url`` is contacted, neither
a proxy of the environment nor what the server may redirect to.
"""

from __future__ import annotations

import importlib
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final, Generic, TypeVar
from urllib.parse import urlsplit

from gridworld.actions import Action
from gridworld.adapters.answers import Choice, read_choice, without_thoughts
from gridworld.adapters.prompting import PROMPT_VERSION, repair_text, system_text, user_messages
from gridworld.errors import ModelError, ModelUnavailableError, missing_part
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.task_spec import TaskSpecification
from spca.errors import BadAnswerError, ProviderError, TransientError, UnknownModelError
from spca.llm.calls.desk import CallDesk
from spca.llm.calls.ledger import sums
from spca.llm.calls.prices import ModelTable
from spca.llm.calls.retry import RetryPolicy
from spca.llm.providers.base import Finish, Limits, Message, Provider, Request, Response
from spca.llm.providers.secrets import quoted

P = TypeVar("P", bound=Provider)

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


class VisionModel(ModelInterface, Generic[P]):
    """A vision-language model behind a server; subclasses say how it is reached.

    Args:
        model: its name there.
        base_url: of the server.
        temperature: of sampling; 0.0 is as reproducible as the server can be.
        max_tokens: cap on each answer, thoughts included.
        timeout: seconds to wait for each answer.
        request_retries: how often a failed request is repeated.
        retry_sleep: seconds before that at most, unless the server asks for more.

    Attributes:
        flag: what its options on the command line begin with.
        sdk: the package that its provider needs.

    Raises:
        ModelError: ``base_url`` is no address of a server.
    """

    flag: ClassVar[str]
    sdk: ClassVar[str]

    def __init__(
        self,
        model: str,
        base_url: str,
        temperature: float = 0.0,
        max_tokens: int = 4096,
        timeout: float = 600,
        request_retries: int = 1,
        retry_sleep: float = 5.0,
    ) -> None:
        self.model = model
        self.base_url = _checked_address(base_url)
        self.temperature = temperature
        self.max_tokens = max_tokens
        self.timeout = timeout
        self.request_retries = request_retries
        self.retry_sleep = retry_sleep
        self._tiling = "square"
        self._server: _Server | None = None
        self._begin()

    @abstractmethod
    def _provider(self) -> P:
        """Make the provider that reaches the model."""

    @abstractmethod
    def _check(self, provider: P) -> None:
        """Ask the server for what it knows of the model.

        Raises:
            ProviderError: it does not have it, or does not tell.
            ModelError: the model cannot be used; names the fix.
        """

    @property
    def model_name(self) -> str:
        return f"{self.flag}_{self.model}"

    @property
    def address(self) -> str:
        """``base_url`` as it may be shown."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    def setup(self, device: str = "cpu") -> None:
        """See that the server is there and has the model, as far as it tells.

        Raises:
            ModelError: the SDK, the server or the model is missing, or the model sees no images; names the fix.
        """
        del device
        try:
            self._check(self._made())
        except ProviderError as error:
            if _is_absent(error):
                raise ModelUnavailableError(str(error)) from None
            if isinstance(error, UnknownModelError):
                raise ModelError(str(error)) from None

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Begin to count anew; of the task only the tiling is looked at."""
        del task_spec, seed, backend
        self._tiling = tiling
        self._begin()

    def predict(self, input: ModelInput) -> ModelOutput:
        """The action that the model names; to wait if it names none twice.

        Raises:
            ModelError: the server gives no answer; names the fix.
        """
        messages = [Message("system", system_text(input.action_space, self._tiling)), *user_messages(input)]
        first = self._ask(messages)
        visible = without_thoughts(first.text)
        choice = read_choice(visible, input.action_space)
        if choice is not None:
            return _output(choice, visible, first.text)
        self._details["repairs"] += 1
        said = visible[-_REPEATED:] or "(nothing)"
        messages += [Message("assistant", said), Message("user", repair_text(input.action_space))]
        second = self._ask(messages)
        repaired = without_thoughts(second.text)
        raw = f"{first.text}\n\n[asked again]\n\n{second.text}"
        choice = read_choice(repaired, input.action_space)
        if choice is not None:
            return _output(choice, visible, raw)
        self._details["unreadable"] += 1
        why = f"no action could be read, nor after asking again: {(repaired or visible)[:_SHOWN]!r}"
        if Finish.LENGTH in (first.finish, second.finish):
            why += f" (the answer was cut at max_tokens {self.max_tokens}: allow more)"
        return ModelOutput(int(Action.DONE), confidence=0.0, reasoning=why, raw_output=raw)

    def episode_details(self) -> Mapping[str, Any]:
        """Requests, retries, repairs, unreadable answers, tokens and seconds.

        ``estimated`` counts the requests whose tokens the server did not tell.
        """
        records = self._desk.ledger.records
        total = sums(records)
        counted = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens", "estimated")
        return {
            "requests": len(records),
            "retries": sum(record.attempt > 1 for record in records),
            "seconds": total["latency_s"],
            **{name: total[name] for name in counted if total[name]},
            **self._details,
        }

    def describe(self) -> Mapping[str, Any]:
        """Name, parameters and version of the prompt; of the address no name or password that it may hold."""
        return {
            "model": self.model,
            "base_url": self.address,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "prompt_version": PROMPT_VERSION,
        }

    def blind(self, why: str) -> ModelError:
        """Return the error for a model that takes no images."""
        return ModelError(
            f"{self.model!a} at {self.address} sees no images ({quoted(why)}): "
            f"name a vision model with --{self.flag}-model"
        )

    def _begin(self) -> None:
        policy = RetryPolicy(self.request_retries + 1, self.retry_sleep, self.retry_sleep)
        self._desk = CallDesk(table=ModelTable({}), policy=policy)
        self._details: dict[str, Any] = {"repairs": 0, "unreadable": 0}

    def _made(self) -> P:
        try:
            importlib.import_module(self.sdk)
        except ImportError as error:
            raise missing_part(error, f"the {self.flag} model") from error
        return self._provider()

    def _ask(self, messages: Iterable[Message]) -> Response:
        server = self._server = self._server or _Server(self._made(), self)
        limits = Limits(self.max_tokens, self.temperature, self.timeout)
        try:
            asked = self._desk.ask(server, self.model_name, Request(self.model, tuple(messages), limits=limits))
        except ProviderError as error:
            kind = ModelUnavailableError if server.is_absent else ModelError
            raise kind(str(error)) from None
        response = asked.answer.get()
        if response.served not in ("", self.model):
            self._details["served_model"] = response.served
        return response


class _Server:
    """The provider of a model, with failures as an evaluation takes them."""

    def __init__(self, provider: Provider, model: VisionModel[Any]) -> None:
        self._provider, self._model = provider, model
        self._has_answered = False
        self.is_absent = False

    def complete(self, request: Request) -> Response:
        try:
            response = self._provider.complete(request)
        except ProviderError as error:
            raise self._meant(error) from None
        self._has_answered = True
        return response

    def _meant(self, error: ProviderError) -> Exception:
        words = str(error).partition(": ")[2]  # without the name of the model, which may speak of vision
        self.is_absent = _is_absent(error)
        if _BLIND.search(words):
            return self._model.blind(words)
        if isinstance(error, BadAnswerError):  # another one may be readable
            return TransientError(str(error), lost=True)
        if self.is_absent and not self._has_answered:  # it was never there: there is nothing to wait for
            return ModelUnavailableError(str(error))
        return error


def _is_absent(error: ProviderError) -> bool:
    """Return whether no connection could be made."""
    return isinstance(error, TransientError) and error.status is None and not error.lost


def _output(choice: Choice, visible: str, raw: str) -> ModelOutput:
    return ModelOutput(choice.action, choice.confidence, reasoning=visible or None, raw_output=raw)


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(f"{quoted(address)!a} is not an address of a server; write http://HOST:PORT")
    return address.rstrip("/")
