"""Vision models served by LM Studio, through its OpenAI-compatible server and the SDK of OpenAI."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from gridworld.adapters.vision import (
    HEADERS,
    AbsentError,
    PassingError,
    Reply,
    Turn,
    VisionModel,
    is_blind,
    one_line,
    png_base64,
)
from gridworld.errors import ModelError, missing_part

_NO_KEY: Final = "lm-studio"
"""The SDK wants a key, the server does not look at it; keys of the environment are not sent."""
_SETUP_TIMEOUT_S: Final = 15.0
_SHOWN_MODELS: Final = 5


class LMStudioVLMAdapter(VisionModel):
    """A model of LM Studio's local server, or of another one that speaks OpenAI's chat completions.

    A conversation is one system and one user message, with texts and images in order, since the templates of some
    models take no two user messages in a row.

    Args:
        model: as in the server's list; it must see images.
        base_url: of the server; ``/v1`` is added where it is missing.
        temperature, max_tokens, timeout, request_retries, retry_sleep: as of
            :class:`~gridworld.adapters.vision.VisionModel`.
    """

    def __init__(
        self,
        model: str = "google/gemma-3-4b-it",
        base_url: str = "http://localhost:1234",
        temperature: float = 0.0,
        max_tokens: int = 4096,
        timeout: float = 600,
        request_retries: int = 1,
        retry_sleep: float = 5.0,
    ) -> None:
        super().__init__(model, base_url, temperature, max_tokens, timeout, request_retries, retry_sleep)
        self._client: Any = None

    @property
    def model_name(self) -> str:
        return f"lmstudio_{self.model}"

    def setup(self, device: str = "cpu") -> None:
        """See that the server is there and lists the model: it would answer with another one that is loaded.

        Raises:
            ModelError: the SDK, the server or the model is missing; names the fix.
        """
        del device
        try:
            names = [each.id for each in self._connected().models.list(timeout=_SETUP_TIMEOUT_S).data]
        except Exception as error:  # the boundary to the SDK, which raises what its HTTP client met
            if isinstance(found := self._translated(error), AbsentError):
                raise found from None
            return  # a server that does not tell
        if names and self.model not in names:
            known = one_line(", ".join(names[:_SHOWN_MODELS]))
            raise ModelError(
                f"the server at {self.address} does not list {self.model!a}; it has {known}: "
                f"download it (`lms get {self.model}`) or name another one with --lmstudio-model"
            )

    def teardown(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _send(self, turns: Sequence[Turn]) -> Reply:
        library, client = _library(), self._connected()
        messages = [{"role": turn.role, "content": _content(turn)} for turn in turns]
        try:
            answer = client.chat.completions.create(
                model=self.model,
                messages=messages,
                temperature=self.temperature,
                max_tokens=self.max_tokens,
            )
            choice, usage = answer.choices[0], answer.usage
            details = usage.completion_tokens_details if usage else None
            return Reply(
                text=choice.message.content or "",
                input_tokens=usage.prompt_tokens if usage else None,
                output_tokens=usage.completion_tokens if usage else None,
                reasoning_tokens=details.reasoning_tokens if details else None,
                cut=choice.finish_reason == "length",
                model=answer.model,
            )
        except library.APIStatusError as error:
            raise self._refused(error) from None
        except Exception as error:  # the boundary to the SDK, which raises what its HTTP client met
            raise self._translated(error) from None

    def _connected(self) -> Any:
        if self._client is None:
            library = _library()
            base = self.base_url if self.base_url.endswith("/v1") else f"{self.base_url}/v1"
            self._client = library.OpenAI(
                api_key=_NO_KEY,
                base_url=base,
                timeout=self.timeout,
                max_retries=0,
                default_headers=HEADERS,
                http_client=library.DefaultHttpxClient(
                    trust_env=False, follow_redirects=False, timeout=self.timeout, base_url=base
                ),
            )
        return self._client

    def _refused(self, error: Any) -> ModelError:
        words = one_line(_words(error))
        if error.status_code == 404 and "model" in words.lower():
            return ModelError(
                f"the server at {self.address} does not know {self.model!a} ({words}): download it "
                f"(`lms get {self.model}`) or name another one with --lmstudio-model"
            )
        if is_blind(words):
            return ModelError(
                f"{self.model!a} at {self.address} sees no images ({words}): name a vision model with --lmstudio-model"
            )
        passing = error.status_code in (408, 409, 425, 429) or error.status_code >= 500
        kind = PassingError if passing else ModelError
        return kind(f"the server at {self.address} refused ({error.status_code}): {words}")

    def _translated(self, error: Exception) -> ModelError:
        library = _library()
        if isinstance(error, library.APITimeoutError):
            return PassingError(f"the server at {self.address} did not answer within {self.timeout:g} s: allow more")
        if isinstance(error, library.APIConnectionError):
            cause = type(error.__cause__).__name__
            if cause in ("ConnectError", "ConnectTimeout"):
                return AbsentError(
                    f"no server at {self.address}: start it in LM Studio (`lms server start`), or say where it is "
                    "(--lmstudio-url)"
                )
            return PassingError(f"the connection to {self.address} broke: {cause}: {one_line(error.__cause__)}")
        return PassingError(f"the answer of {self.address} cannot be read: {type(error).__name__}: {one_line(error)}")


def _content(turn: Turn) -> Any:
    if all(isinstance(part, str) for part in turn.parts):
        return turn.text
    return [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{png_base64(part)}"}}
        for part in turn.parts
    ]


def _words(error: Any) -> str:
    """What a refusal says: LM Studio gives a text where OpenAI gives an object."""
    body = error.body
    if isinstance(body, dict):
        told = body.get("message") or body.get("error") or body
        return str(told)
    return str(body or error)


def _library() -> Any:
    try:
        import openai
    except ImportError as error:
        raise missing_part(error, "the lmstudio model") from error
    return openai
