"""The registry of models: a dict that tells the command line the names and the options of all models."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeAlias, get_type_hints

from cyclopts import Parameter
from docstring_parser import parse

from gridworld.errors import ModelError
from gridworld.evaluation.models import asked
from gridworld.evaluation.models.model_options import (
    MAY_CHANGE_IF_PAID,
    AskedOptions,
    FileBasedOptions,
    LMStudioOptions,
    ModelRequest,
    OllamaOptions,
)
from spca.common.options.values import option_group

if TYPE_CHECKING:
    from gridworld.evaluation.model_interface import ModelInterface

Factory: TypeAlias = "Callable[[ModelRequest[Any]], ModelInterface]"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """The entry of a model in the registry.

    Attributes:
        factory: function that returns a new model; each worker process makes its own model. The factory must be a
            module's function, because worker processes import it by name. The factory must be cheap; expensive work
            belongs in :meth:`~gridworld.evaluation.model_interface.ModelInterface.setup`.
        help: description in one line.
        options: dataclass of the options of the model; None if the model has no options. Every field needs a default
            value. Fields of the same name in several models are the same option.
        may_change: names of options whose values may change before an interrupted evaluation is resumed, such as
            timeouts.
        max_workers: the most processes that may play the model at the same time; None for any number.
        admit: function that is called once before an evaluation, with the same request as ``factory``. It returns
            warnings for the user, or raises an error. A model with ``admit`` counts as paid: its calls are kept beside
            the results, and ``--effort`` applies to it.
    """

    factory: Factory
    help: str = ""
    options: type[Any] | None = None
    may_change: frozenset[str] = frozenset()
    max_workers: int | None = None
    admit: Callable[[ModelRequest[Any]], Sequence[str]] | None = None

    def make_options(self, given: Mapping[str, object]) -> object:
        """Return the options of this model, or None if the model has no options. ``given`` holds the options of all
        models.
        """
        if self.options is None:
            return None
        names = {field.name for field in fields(self.options)}
        return self.options(**{name: value for name, value in given.items() if name in names})


def list_options(models: Mapping[str, ModelEntry]) -> list[inspect.Parameter]:
    """Return the options of all models as parameters of a command.

    If several models have an option of the same name, the last model defines the option.
    """
    parameters: dict[str, inspect.Parameter] = {}
    for name, entry in models.items():
        if entry.options is None:
            continue
        default_group = Parameter(group=option_group(f"Model {name}"))
        hints = get_type_hints(entry.options, include_extras=True)
        help_texts = _read_help(entry.options)
        for argument in inspect.signature(entry.options).parameters.values():
            hint = hints[argument.name]
            help_text = Parameter(help=help_texts.get(argument.name))
            own_metadata = getattr(hint, "__metadata__", ())
            # The option's own metadata come last, so that its own group wins over the default group.
            annotation: Any = Annotated[hint, default_group, help_text, *own_metadata]
            parameters[argument.name] = argument.replace(kind=argument.KEYWORD_ONLY, annotation=annotation)
    return list(parameters.values())


def _read_help(options: type[Any]) -> dict[str, str | None]:
    """Return the help text of each option, read from the docstrings of a dataclass and of its base classes."""
    # Base classes come first, so that the text of the class itself wins; the last class, object, is left out.
    docstrings = [parse(each.__doc__ or "") for each in reversed(options.__mro__[:-1])]
    return {param.arg_name: param.description for docstring in docstrings for param in docstring.params}


def _random(request: ModelRequest[None]) -> ModelInterface:
    from gridworld.evaluation.models.baselines import RandomModelInterface

    return RandomModelInterface(seed=request.seed)


def _bfs(request: ModelRequest[None]) -> ModelInterface:
    from gridworld.evaluation.models.baselines import BFSModelInterface

    return BFSModelInterface(request.limit)


def _greedy(_request: ModelRequest[None]) -> ModelInterface:
    from gridworld.evaluation.models.baselines import GreedyModelInterface

    return GreedyModelInterface()


def _file_based(request: ModelRequest[FileBasedOptions]) -> ModelInterface:
    from gridworld.evaluation.models.file_based import FileBasedModelInterface

    options = request.options
    if not options.work_dir:
        raise ModelError("file_based exchanges files with another process: add --work-dir DIR")
    return FileBasedModelInterface(options.work_dir, timeout=options.timeout or 60.0)


def _ollama(request: ModelRequest[OllamaOptions]) -> ModelInterface:
    from gridworld.adapters.ollama_vlm_adapter import OllamaVLMAdapter

    options = request.options
    return OllamaVLMAdapter(
        model=options.ollama_model,
        base_url=options.ollama_url,
        max_tokens=options.ollama_max_tokens,
        timeout=options.ollama_timeout,
        request_retries=options.ollama_retries,
        retry_sleep=options.ollama_retry_sleep,
    )


def _lmstudio(request: ModelRequest[LMStudioOptions]) -> ModelInterface:
    from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter

    return LMStudioVLMAdapter(model=request.options.lmstudio_model, base_url=request.options.lmstudio_url)


ASKED: Final = "PREFIX/NAME"
"""Key of the entry for all models whose name begins with the prefix of a provider or server."""

MODELS: Final[dict[str, ModelEntry]] = {
    "random": ModelEntry(_random, "any action, all equally likely"),
    "bfs": ModelEntry(_bfs, "knows the task; a shortest way by exact search"),
    "greedy": ModelEntry(_greedy, "knows the task; looks one step ahead"),
    "file_based": ModelEntry(
        _file_based, "another process, by files", FileBasedOptions, frozenset({"work_dir", "timeout"})
    ),
    "ollama": ModelEntry(
        _ollama,
        "a vision model served by Ollama",
        OllamaOptions,
        frozenset({"ollama_url", "ollama_timeout", "ollama_retries", "ollama_retry_sleep"}),
    ),
    "lmstudio": ModelEntry(
        _lmstudio, "a vision model served by LM Studio", LMStudioOptions, frozenset({"lmstudio_url"})
    ),
    ASKED: ModelEntry(
        asked.make,
        "a model of a provider, such as openai/gpt-6-luna, google/NAME, anthropic/NAME, ollama/NAME, human/editor",
        AskedOptions,
        MAY_CHANGE_IF_PAID | {"timeout", "cache"},
        admit=asked.admit,
    ),
}

# Messages for names of models that another command plays.
_ELSEWHERE: Final = {
    "spca": "spca is the agent of this project: run `spca gridworld --model spca`,"
    " in a checkout `python run_eval.py --model spca`"
}


def register_model(name: str, factory: Factory, options: type[Any] | None = None, **more: Any) -> None:
    """Add a model to the registry, or replace the model of this name.

    Call this function before ``gridworld.evaluation.cli.main``.

    Args:
        name: name of the model for ``--model``.
        factory, options: see :class:`ModelEntry`.
        more: further fields of :class:`ModelEntry`.
    """
    MODELS[name] = replace(ModelEntry(factory), options=options, **more)


def find_model(name: str, models: Mapping[str, ModelEntry]) -> ModelEntry:
    """Return the entry of a model.

    Raises:
        ModelError: no model has this name.
    """
    if name in models:
        return models[name]
    if "/" in name and ASKED in models:
        return models[ASKED]
    if name in _ELSEWHERE:
        raise ModelError(_ELSEWHERE[name])
    raise ModelError(f"there is no model {name!a}; there are {', '.join(models)}")
