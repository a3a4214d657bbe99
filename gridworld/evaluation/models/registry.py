"""The models that ``--model`` can name: a dict that feeds the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from gridworld.errors import ModelError
from gridworld.evaluation.models import asked
from spca.common.command import amount, whole

if TYPE_CHECKING:
    from gridworld.evaluation.model_interface import ModelInterface

Options: TypeAlias = Mapping[str, Any]
Factory: TypeAlias = "Callable[[Options], ModelInterface]"
AddOptions: TypeAlias = Callable[["argparse._ArgumentGroup"], None]

count: Final = whole(1)
count_or_zero: Final = whole(0)
seconds: Final = amount("seconds")


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A model and how it is made.

    Attributes:
        factory: makes one from ``seed``, ``limit``, ``model`` (its name), ``books`` (a folder for its calls, or "") and
            the values of its options; cheap, the heavy part is
            :meth:`~gridworld.evaluation.model_interface.ModelInterface.setup`. A function of a module, since worker
            processes import it by name; each worker has a model of its own.
        help: one line.
        options: adds the options of the model to the parser of the command line.
        may_change: names of options that need not be the same when an evaluation is resumed, such as timeouts.
        max_workers: how many processes may play it at once; None for any number.
        shares: which of :data:`gridworld.evaluation.models.asked.OPTIONS` it takes too.
        admit: called with the same once, before anything is played; returns lines for the user, or raises. A model that
            has it is paid for: its calls are kept beside the results, and its name may come with ``--effort``.
    """

    factory: Factory
    help: str = ""
    options: AddOptions | None = None
    may_change: frozenset[str] = frozenset()
    max_workers: int | None = None
    shares: frozenset[str] = frozenset()
    admit: Callable[[Options], Sequence[str]] | None = None

    def option_names(self) -> tuple[str, ...]:
        """The destinations of its options."""
        if self.options is None:
            return tuple(sorted(self.shares))
        parser = argparse.ArgumentParser(add_help=False)
        known = {action.dest for action in parser._actions}
        self.options(parser.add_argument_group())
        own = (action.dest for action in parser._actions if action.dest not in known)
        return (*own, *sorted(self.shares))


def _random(options: Options) -> ModelInterface:
    from gridworld.evaluation.models.baselines import RandomModelInterface

    return RandomModelInterface(seed=options["seed"])


def _bfs(options: Options) -> ModelInterface:
    from gridworld.evaluation.models.baselines import BFSModelInterface
    from gridworld.search.solver import DEFAULT_LIMIT

    return BFSModelInterface(options.get("limit", DEFAULT_LIMIT))


def _greedy(options: Options) -> ModelInterface:
    from gridworld.evaluation.models.baselines import GreedyModelInterface

    del options
    return GreedyModelInterface()


def _file_based(options: Options) -> ModelInterface:
    from gridworld.evaluation.models.file_based import FileBasedModelInterface

    if not options["work_dir"]:
        raise ModelError("file_based exchanges files with another process: add --work-dir DIR")
    return FileBasedModelInterface(options["work_dir"], timeout=options.get("timeout") or 60.0)


def _file_based_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--work-dir", metavar="DIR", help="folder in which files are exchanged")


def _ollama(options: Options) -> ModelInterface:
    from gridworld.adapters.ollama_vlm_adapter import OllamaVLMAdapter

    return OllamaVLMAdapter(
        model=options["ollama_model"],
        base_url=options["ollama_url"],
        max_tokens=options["ollama_max_tokens"],
        timeout=options["ollama_timeout"],
        request_retries=options["ollama_retries"],
        retry_sleep=options["ollama_retry_sleep"],
    )


def _ollama_options(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--ollama-model", default="qwen2.5vl:7b", metavar="NAME", help="default %(default)s")
    add("--ollama-url", default="http://localhost:11434", metavar="URL", help="default %(default)s")
    add("--ollama-max-tokens", type=count, default=4096, metavar="N", help="cap on each answer (default %(default)s)")
    add("--ollama-timeout", type=seconds, default=600.0, metavar="S", help="wait for each answer (default 600)")
    add("--ollama-retries", type=count_or_zero, default=1, metavar="N", help="after a failed request (default 1)")
    add("--ollama-retry-sleep", type=seconds, default=5.0, metavar="S", help="wait before that, at most (default 5)")


def _lmstudio(options: Options) -> ModelInterface:
    from gridworld.adapters.lmstudio_vlm_adapter import LMStudioVLMAdapter

    return LMStudioVLMAdapter(model=options["lmstudio_model"], base_url=options["lmstudio_url"])


def _lmstudio_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--lmstudio-model", default="google/gemma-3-4b-it", metavar="NAME", help="default %(default)s")
    group.add_argument("--lmstudio-url", default="http://localhost:1234", metavar="URL", help="default %(default)s")


ASKED: Final = "PREFIX/NAME"
"""What stands in lists for all models that are named with the prefix of a provider or server."""

MODELS: Final[dict[str, ModelEntry]] = {
    "random": ModelEntry(_random, "any action, all equally likely"),
    "bfs": ModelEntry(_bfs, "knows the task; a shortest way by exact search"),
    "greedy": ModelEntry(_greedy, "knows the task; looks one step ahead"),
    "file_based": ModelEntry(
        _file_based,
        "another process, by files",
        _file_based_options,
        frozenset({"work_dir", "timeout"}),
        shares=frozenset({"timeout"}),
    ),
    "ollama": ModelEntry(
        _ollama,
        "a vision model served by Ollama",
        _ollama_options,
        frozenset({"ollama_url", "ollama_timeout", "ollama_retries", "ollama_retry_sleep"}),
    ),
    "lmstudio": ModelEntry(
        _lmstudio, "a vision model served by LM Studio", _lmstudio_options, frozenset({"lmstudio_url"})
    ),
    ASKED: ModelEntry(
        asked.make,
        "a model of a provider, such as openai/gpt-6-luna, google/NAME, anthropic/NAME, ollama/NAME, human/editor",
        may_change=asked.MAY_CHANGE,
        shares=asked.OPTIONS,
        admit=asked.admit,
    ),
}

_ELSEWHERE: Final = {
    "spca": "spca is the agent of this project: run `spca gridworld --model spca`,"
    " in a checkout `python run_eval.py --model spca`"
}


def register_model(name: str, factory: Factory, options: AddOptions | None = None, **more: Any) -> None:
    """Add a model, or replace one, before ``gridworld.evaluation.cli.main`` is called.

    Args:
        name: what ``--model`` takes.
        factory, options: as in :class:`ModelEntry`.
        more: further fields of it.
    """
    MODELS[name] = replace(ModelEntry(factory), options=options, **more)


def find_model(name: str, models: Mapping[str, ModelEntry]) -> ModelEntry:
    """The entry of a name.

    Raises:
        ModelError: there is none; lists those that there are, or says where this one is.
    """
    if name in models:
        return models[name]
    if "/" in name and ASKED in models:
        return models[ASKED]
    if name in _ELSEWHERE:
        raise ModelError(_ELSEWHERE[name])
    raise ModelError(f"there is no model {name!a}; there are {', '.join(models)}")


def add_limit(group: argparse._ActionsContainer, default: int | None = None) -> None:
    """The option that says how far an exact search goes; it means the same everywhere.

    Args:
        default: another one than :data:`gridworld.search.solver.DEFAULT_LIMIT`.
    """
    from gridworld.search.solver import DEFAULT_LIMIT

    what = "states that an exact search of a task may expand before it gives up (default %(default)s)"
    group.add_argument("--limit", type=count, default=default or DEFAULT_LIMIT, metavar="N", help=what)
