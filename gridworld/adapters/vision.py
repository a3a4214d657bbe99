"""What all vision models behind servers have in common: asking, asking again, and reading the answer.

An answer that names no action gets one request for a better one; if that fails too, the action is to wait, with
confidence 0.0 and the reason: nothing is guessed. A request that fails in a way that may pass is repeated
``request_retries`` times. Nothing but ``base_url`` is contacted, neither a proxy of the environment nor what the server
may redirect to.
"""

from __future__ import annotations

import base64
import re
import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from gridworld.actions import Action
from gridworld.adapters.answers import Choice, read_choice, without_thoughts
from gridworld.adapters.prompting import PROMPT_VERSION, Part, repair_text, system_text, user_parts
from gridworld.errors import ModelError, ModelUnavailableError
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.task_spec import TaskSpecification

HEADERS: Final = {"connection": "close"}
"""A connection kept open may be closed by the server in the moment it is used again."""

_BLIND: Final = re.compile(
    r"\b(image|vision|multimodal).*\bnot (be )?(support|accept)|\bnot support.*\b(image|vision|multimodal)"
    r"|\bmissing\b.*\bfor image input",
    re.IGNORECASE,
)
_SHOWN: Final = 200
_COUNTS: Final = ("input_tokens", "output_tokens", "reasoning_tokens")
_MOST_TOKENS: Final = 10**8
"""That one request can have: ten times the largest context of a model."""

_SHOWN_COUNT: Final = 40
_REPEATED: Final = 2000
"""Characters of an unreadable answer that the model is shown again."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A message of a conversation: "system", "user" or "assistant", and its parts in order."""

    role: str
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        """Its texts without its images."""
        return "\n".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True)
class Reply:
    """What a server answered.

    Attributes:
        text: of the model; its thoughts, where the server tells them apart, are not in it.
        input_tokens, output_tokens: None if the server does not count.
        reasoning_tokens: of the output, spent on thinking; None likewise.
        cut: it ended because it reached ``max_tokens``.
        model: the name that the server gives the model.
    """

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cut: bool = False
    model: str | None = None


def is_blind(words: str) -> bool:
    """Whether a refusal says that the model takes no images, as servers word it with any status."""
    return _BLIND.search(words) is not None


class PassingError(ModelError):
    """A failure that another request may not meet."""


class AbsentError(PassingError, ModelUnavailableError):
    """There is no server; once requests were tried again, there is nothing more to be had."""


class VisionModel(ModelInterface):
    """A vision-language model behind a server; subclasses say how it is asked.

    Args:
        model: its name there.
        base_url: of the server.
        temperature: of sampling; 0.0 is as reproducible as the server can be.
        max_tokens: cap on each answer, thoughts included.
        timeout: seconds to wait for each answer.
        request_retries: how often a failed request is repeated.
        retry_sleep: seconds before that.

    Raises:
        ModelError: ``base_url`` is no address of a server.
    """

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
        self._answered = False
        self._details: dict[str, Any] = _no_calls()

    @abstractmethod
    def _send(self, turns: Sequence[Turn]) -> Reply:
        """Ask once.

        Raises:
            PassingError: another request may succeed.
            ModelError: none will; names the fix.
        """

    def begin_episode(
        self, task_spec: TaskSpecification, seed: int, *, backend: str = "minigrid", tiling: str = "square"
    ) -> None:
        """Begin to count anew; of the task only the tiling is looked at."""
        del task_spec, seed, backend
        self._tiling = tiling
        self._details = _no_calls()

    def predict(self, input: ModelInput) -> ModelOutput:
        """The action that the model names; to wait if it names none twice.

        Raises:
            ModelError: the server gives no answer; names the fix.
        """
        turns = [
            Turn("system", (system_text(input.action_space, self._tiling),)),
            Turn("user", tuple(user_parts(input))),
        ]
        first = self._ask(turns)
        visible = without_thoughts(first.text)
        choice = read_choice(visible, input.action_space)
        if choice is not None:
            return _output(choice, visible, first.text)
        self._details["repairs"] += 1
        said = visible[-_REPEATED:] or "(nothing)"
        turns += [Turn("assistant", (said,)), Turn("user", (repair_text(input.action_space),))]
        second = self._ask(turns)
        repaired = without_thoughts(second.text)
        raw = f"{first.text}\n\n[asked again]\n\n{second.text}"
        choice = read_choice(repaired, input.action_space)
        if choice is not None:
            return _output(choice, visible, raw)
        self._details["unreadable"] += 1
        why = f"no action could be read, nor after asking again: {(repaired or visible)[:_SHOWN]!r}"
        if second.cut or first.cut:
            why += f" (the answer was cut at max_tokens {self.max_tokens}: allow more)"
        return ModelOutput(int(Action.DONE), confidence=0.0, reasoning=why, raw_output=raw)

    def episode_details(self) -> Mapping[str, Any]:
        """Requests, retries, repairs, unreadable answers, tokens as far as the server counts them, seconds."""
        return {**self._details, "seconds": round(self._details["seconds"], 3)}

    def describe(self) -> Mapping[str, Any]:
        """Name, parameters and version of the prompt; of the address no name or password that it may hold."""
        return {
            "model": self.model,
            "base_url": self.address,
            "temperature": self.temperature,
            "max_tokens": self.max_tokens,
            "prompt_version": PROMPT_VERSION,
        }

    @property
    def address(self) -> str:
        """``base_url`` as it may be shown."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    def _ask(self, turns: Sequence[Turn]) -> Reply:
        for attempt in range(self.request_retries + 1):
            if attempt:
                time.sleep(self.retry_sleep)
                self._details["retries"] += 1
            try:
                with self._timed():
                    reply = self._send(turns)
                counts = _counts(reply)
                self._count(counts, reply.model)
                return reply
            except PassingError as error:
                never_there = isinstance(error, AbsentError) and not self._answered
                if attempt == self.request_retries or never_there:
                    raise
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def _timed(self) -> Iterator[None]:
        self._details["requests"] += 1
        started = time.perf_counter()
        try:
            yield
        finally:
            self._details["seconds"] += time.perf_counter() - started

    def _count(self, counts: Mapping[str, int], served: str | None) -> None:
        self._answered = True
        for name, tokens in counts.items():
            self._details[name] = self._details.get(name, 0) + tokens
        if served and served != self.model:
            self._details["served_model"] = served


def _counts(reply: Reply) -> dict[str, int]:
    """The tokens that a server has counted.

    Raises:
        PassingError: a count cannot be one.
    """
    counts: dict[str, int] = {}
    for name in _COUNTS:
        value: object = getattr(reply, name)
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if is_number and 0 <= value <= _MOST_TOKENS and value == int(value):  # type: ignore[operator, call-overload]
            counts[name] = int(value)  # type: ignore[call-overload]
        elif value is not None:
            raise PassingError(f"the answer counts {one_line(value)[:_SHOWN_COUNT]} as {name}")
    return counts


def png_base64(image: NDArray[np.uint8]) -> str:
    """An RGB image as PNG in base64.

    Raises:
        GridworldError: Pillow is missing, or it is no image.
    """
    from gridworld.drawing import png_bytes

    return base64.b64encode(png_bytes(image)).decode("ascii")


def one_line(text: object) -> str:
    """Words of a server as part of an error: one line, not too long, nothing in it that acts on a terminal."""
    words = " ".join(str(text).split())
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in words[:_SHOWN])


def _output(choice: Choice, visible: str, raw: str) -> ModelOutput:
    return ModelOutput(choice.action, choice.confidence, reasoning=visible or None, raw_output=raw)


def _no_calls() -> dict[str, Any]:
    return {"requests": 0, "retries": 0, "repairs": 0, "unreadable": 0, "seconds": 0.0}


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(f"{one_line(address)!a} is not an address of a server; write http://HOST:PORT")
    return address.rstrip("/")
