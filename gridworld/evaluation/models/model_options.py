"""Options of the models, and the request from which a factory makes a model.

``--help`` shows the descriptions under ``Attributes`` of the option classes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Annotated, Final, Generic, TypeVar

from cyclopts import Parameter

from gridworld.evaluation.options import ASKED_MODELS
from spca.common.options.values import FILE, FOLDER, NAME, amount, name_value, whole_number

OptionsT = TypeVar("OptionsT")
"""Type of the options of a kind of model; None for a model without options."""


@dataclass(frozen=True, slots=True)
class ModelRequest(Generic[OptionsT]):
    """The values from which a factory makes a model.

    Attributes:
        name: name of the model with its effort, as for ``--model``.
        options: options of this kind of model.
        seed: seed of the model.
        limit: number of states that an exact search may expand.
        books: absolute path of the folder in which a paid model records its calls; "" for no folder.
    """

    name: str
    options: OptionsT
    seed: int
    limit: int
    books: str = ""


SECONDS: Final = amount("seconds")
_S: Final = name_value("S")
_URL: Final = name_value("URL")
_ASKED: Final = Parameter(group=ASKED_MODELS)
"""Help group of the options that several models take."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaidOptions:
    """Options of every model that is asked through a provider.

    Attributes:
        max_cost: cap on what all calls may cost (default 5)
        max_calls: cap on requests, retries included
        max_tokens: cap on input and output tokens
        max_output_tokens: cap on each answer, thoughts included
        base_url: OpenAI-compatible server of openai/... (OPENAI_BASE_URL)
        servers: a server of yours: NAME/MODEL is asked there (may be repeated; SPCA_SERVERS)
        model_table: prices and context sizes of models (docs/models.md)
        preflight: look the model up first (default)
    """

    max_cost: Annotated[float | None, _ASKED, amount("USD", zero=True), name_value("USD")] = None
    max_calls: Annotated[int | None, _ASKED, whole_number(1)] = None
    max_tokens: Annotated[int | None, _ASKED, whole_number(1)] = None
    max_output_tokens: Annotated[int | None, _ASKED, whole_number(1)] = None
    base_url: Annotated[str | None, _ASKED, _URL] = None
    servers: Annotated[
        tuple[str, ...] | None, _ASKED, Parameter(name="--server", metavar="NAME=URL[,KEY_VARIABLE]")
    ] = None
    model_table: Annotated[str | None, _ASKED, FILE] = None
    preflight: Annotated[bool | None, _ASKED, Parameter(negative="--no-preflight")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedOptions(PaidOptions):
    """Options of a model of a provider.

    Attributes:
        actions_per_call: at most in an answer (default 1)
        timeout: wait for an answer (default 300; file_based 60)
        cache: take answers to equal calls from llm_cache/ beside the results
    """

    actions_per_call: Annotated[int, _ASKED, whole_number(1, 100)] = 1
    timeout: Annotated[float | None, _ASKED, SECONDS, _S] = None
    cache: Annotated[bool, _ASKED] = False


MAY_CHANGE_IF_PAID: Final = frozenset(field.name for field in fields(PaidOptions))
"""Names of options of paid models whose values may change before an interrupted evaluation is resumed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FileBasedOptions:
    """Options of a model in another process.

    Attributes:
        work_dir: folder in which files are exchanged
        timeout: wait for an answer (default 300; file_based 60)
    """

    work_dir: Annotated[str | None, FOLDER] = None
    timeout: Annotated[float | None, _ASKED, SECONDS, _S] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaOptions:
    """Options of the vision models of MultiNet's adapter for Ollama.

    Attributes:
        ollama_model: default qwen2.5vl:7b
        ollama_url: default http://localhost:11434
        ollama_max_tokens: cap on each answer (default 4096)
        ollama_timeout: wait for each answer (default 600)
        ollama_retries: after a failed request (default 1)
        ollama_retry_sleep: wait before that, at most (default 5)
    """

    ollama_model: Annotated[str, NAME] = "qwen2.5vl:7b"
    ollama_url: Annotated[str, _URL] = "http://localhost:11434"
    ollama_max_tokens: Annotated[int, whole_number(1)] = 4096
    ollama_timeout: Annotated[float, SECONDS, _S] = 600.0
    ollama_retries: Annotated[int, whole_number(0)] = 1
    ollama_retry_sleep: Annotated[float, SECONDS, _S] = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LMStudioOptions:
    """Options of the vision models of MultiNet's adapter for LM Studio.

    Attributes:
        lmstudio_model: default google/gemma-3-4b-it
        lmstudio_url: default http://localhost:1234
    """

    lmstudio_model: Annotated[str, NAME] = "google/gemma-3-4b-it"
    lmstudio_url: Annotated[str, _URL] = "http://localhost:1234"
