"""Options of the models, and what a model is made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Final, Generic, TypeVar

from cyclopts import Parameter

from gridworld.evaluation.options import ASKED_MODELS, describe
from spca.common.options.values import amount, whole_number

OptionsT = TypeVar("OptionsT")
"""Options of a kind of model; None for one without."""


@dataclass(frozen=True, slots=True)
class ModelRequest(Generic[OptionsT]):
    """What a model is made from.

    Attributes:
        name: what ``--model`` says, with the effort.
        options: those of this kind of model.
        seed: of the model.
        limit: states that an exact search may expand.
        books: folder in which a model that is paid for keeps its calls, an absolute path; "" for none.
    """

    name: str
    options: OptionsT
    seed: int
    limit: int
    books: str = ""


SECONDS: Final = amount("seconds")


def _shared(metavar: str | None, words: str) -> Parameter:
    """Return the same as :func:`describe`, of an option that several models take."""
    return Parameter(group=ASKED_MODELS, metavar=metavar, help=words)


_TIMEOUT: Final = _shared("S", "wait for an answer (default 300; file_based 60)")


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidOptions:
    """Options of every model that is asked through a provider."""

    max_cost: Annotated[
        float | None, amount("USD", zero=True), _shared("USD", "cap on what all calls may cost (default 5)")
    ] = None
    max_calls: Annotated[int | None, whole_number(1), _shared("N", "cap on requests, retries included")] = None
    max_tokens: Annotated[int | None, whole_number(1), _shared("N", "cap on input and output tokens")] = None
    max_output_tokens: Annotated[int | None, whole_number(1), _shared("N", "cap on each answer, thoughts included")] = (
        None
    )
    base_url: Annotated[str | None, _shared("URL", "OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")] = None
    servers: Annotated[
        tuple[str, ...] | None,
        _shared(
            "NAME=URL[,KEY_VARIABLE]", "a server of yours: NAME/MODEL is asked there (may be repeated; SPCA_SERVERS)"
        ),
        Parameter(name="--server"),
    ] = None
    model_table: Annotated[str | None, _shared("FILE", "prices and context sizes of models (docs/models.md)")] = None
    preflight: Annotated[
        bool | None, _shared(None, "look the model up first (default)"), Parameter(negative="--no-preflight")
    ] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions(PaidOptions):
    """Options of a model of a provider."""

    actions_per_call: Annotated[int, whole_number(1, 100), _shared("N", "at most in an answer (default 1)")] = 1
    timeout: Annotated[float | None, SECONDS, _TIMEOUT] = None
    cache: Annotated[bool, _shared(None, "take answers to equal calls from llm_cache/ beside the results")] = False


MAY_CHANGE_IF_PAID: Final = frozenset(field.name for field in fields(PaidOptions))
"""Options that may differ when an evaluation goes on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBasedOptions:
    """Options of a model in another process."""

    work_dir: Annotated[str | None, describe("DIR", "folder in which files are exchanged")] = None
    timeout: Annotated[float | None, SECONDS, _TIMEOUT] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions:
    """Options of the vision models of MultiNet's adapter for Ollama."""

    ollama_model: Annotated[str, describe("NAME", "default qwen2.5vl:7b")] = "qwen2.5vl:7b"
    ollama_url: Annotated[str, describe("URL", "default http://localhost:11434")] = "http://localhost:11434"
    ollama_max_tokens: Annotated[int, whole_number(1), describe("N", "cap on each answer (default 4096)")] = 4096
    ollama_timeout: Annotated[float, SECONDS, describe("S", "wait for each answer (default 600)")] = 600.0
    ollama_retries: Annotated[int, whole_number(0), describe("N", "after a failed request (default 1)")] = 1
    ollama_retry_sleep: Annotated[float, SECONDS, describe("S", "wait before that, at most (default 5)")] = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LMStudioOptions:
    """Options of the vision models of MultiNet's adapter for LM Studio."""

    lmstudio_model: Annotated[str, describe("NAME", "default google/gemma-3-4b-it")] = "google/gemma-3-4b-it"
    lmstudio_url: Annotated[str, describe("URL", "default http://localhost:1234")] = "http://localhost:1234"
