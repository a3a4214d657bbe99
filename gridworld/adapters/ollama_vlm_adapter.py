"""Vision models served by Ollama, through its SDK."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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

_PROMPT_TOKENS: Final = 8192
"""Context asked for beside that of the answer: Ollama's own default is small, and longer prompts are cut in silence."""
_SETUP_TIMEOUT_S: Final = 15.0
_PASSING: Final = frozenset((408, 409, 425, 429))


class OllamaVLMAdapter(VisionModel):
    """A model of an Ollama server; every earlier image is a message of its own, since some models take one a message.

    Args:
        model: as in ``ollama list``; it must see images.
        base_url: where ``ollama serve`` listens.
        temperature, max_tokens, timeout, request_retries, retry_sleep: as of
            :class:`~gridworld.adapters.vision.VisionModel`.
    """

    def __init__(
        self,
        model: str = "qwen2.5vl:7b",
        base_url: str = "http://localhost:11434",
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
        return f"ollama_{self.model}"

    def setup(self, device: str = "cpu") -> None:
        """See that the server is there and has the model, and that it sees images as far as the server knows.

        Raises:
            ModelError: the SDK, the server or the model is missing, or the model sees no images; names the fix.
        """
        del device
        library = _library()
        try:
            shown = self._connected(_SETUP_TIMEOUT_S).show(self.model)
        except library.ResponseError as error:
            if error.status_code == 404 and "not found" in str(error.error) and "model" in str(error.error):
                raise self._unknown() from None
            return  # a server that only chats
        except Exception as error:  # the boundary to the SDK, which raises what its HTTP client met
            if isinstance(found := self._translated(error), AbsentError):
                raise found from None
            return
        able = shown.capabilities
        if able and "vision" not in able:
            raise self._blind(f"it is able of {one_line(', '.join(able))}")

    def teardown(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client._client.close()
            self._client = None

    def _send(self, turns: Sequence[Turn]) -> Reply:
        library = _library()
        messages = [message for turn in turns for message in _messages(turn)]
        if self._client is None:
            self._client = self._connected(self.timeout)
        try:
            answer = self._client.chat(
                self.model,
                messages,
                stream=False,
                options={
                    "temperature": self.temperature,
                    "num_predict": self.max_tokens,
                    "num_ctx": self.max_tokens + _PROMPT_TOKENS,
                },
            )
            return Reply(
                text=answer.message.content or "",
                input_tokens=answer.prompt_eval_count or None,  # 0: it was not counted
                output_tokens=answer.eval_count or None,
                cut=answer.done_reason == "length",
                model=answer.model,
            )
        except library.ResponseError as error:
            raise self._refused(error) from None
        except Exception as error:  # the boundary to the SDK, which raises what its HTTP client met
            raise self._translated(error) from None

    def _connected(self, timeout: float) -> Any:
        return _library().Client(
            self.base_url, headers=HEADERS, timeout=timeout, trust_env=False, follow_redirects=False
        )

    def _refused(self, error: Any) -> ModelError:
        words = one_line(error.error)
        if error.status_code == 404 and "model" in words:
            return self._unknown()
        if is_blind(words):
            return self._blind(words)
        kind = PassingError if error.status_code in _PASSING or error.status_code >= 500 else ModelError
        return kind(f"ollama at {self.address} refused ({error.status_code}): {words}")

    def _translated(self, error: Exception) -> ModelError:
        import httpx

        if isinstance(error, ConnectionError | httpx.ConnectError | httpx.ConnectTimeout):
            return AbsentError(f"no server at {self.address}: is `ollama serve` running there? (--ollama-url)")
        if isinstance(error, httpx.TimeoutException):
            return PassingError(
                f"ollama at {self.address} did not answer within {self.timeout:g} s: allow more (--ollama-timeout)"
            )
        return PassingError(f"ollama at {self.address}: {type(error).__name__}: {one_line(error)}")

    def _blind(self, why: str) -> ModelError:
        return ModelError(
            f"ollama model {self.model!a} sees no images ({why}): name a vision model with --ollama-model, such as "
            "qwen2.5vl:7b"
        )

    def _unknown(self) -> ModelError:
        return ModelError(f"ollama at {self.address} does not have {self.model!a}: run `ollama pull {self.model}`")


def _messages(turn: Turn) -> Iterator[dict[str, Any]]:
    """A message up to and with each image, and one for what follows the last: the SDK puts images before the words."""
    words: list[str] = []
    for part in turn.parts:
        if isinstance(part, str):
            words.append(part)
            continue
        yield {"role": turn.role, "content": "\n".join(words), "images": [png_base64(part)]}
        words = []
    if words:
        yield {"role": turn.role, "content": "\n".join(words)}


def _library() -> Any:
    try:
        import ollama
    except ImportError as error:
        raise missing_part(error, "the ollama model") from error
    return ollama
