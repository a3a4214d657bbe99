"""Options of models that are asked through a provider, and the model that they make.

Several models take some of them; :attr:`gridworld.evaluation.models.registry.ModelEntry.shares` says which.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from spca.common.command import amount, whole

if TYPE_CHECKING:
    from gridworld.evaluation.model_interface import ModelInterface

CAPS: Final = frozenset({"max_cost", "max_calls", "max_tokens"})
MAY_CHANGE: Final = CAPS | {
    *("base_url", "servers", "model_table", "preflight", "max_output_tokens", "timeout", "cache"),
}
"""Options that may differ when an evaluation goes on."""
OPTIONS: Final = MAY_CHANGE | {"actions_per_call"}


def add_options(group: argparse._ArgumentGroup) -> None:
    """The options that :data:`OPTIONS` names, and ``--effort``, which becomes part of the name of a model."""
    add = group.add_argument
    add("--effort", metavar="WORD", help="how much it reasons, such as low or high: the same as NAME@WORD")
    add("--actions-per-call", type=whole(1, 100), default=1, metavar="N", help="at most in an answer (default 1)")
    add("--max-cost", type=amount("USD", zero=True), metavar="USD", help="cap on what all calls may cost (default 5)")
    add("--max-calls", type=whole(1), metavar="N", help="cap on requests, retries included")
    add("--max-tokens", type=whole(1), metavar="N", help="cap on input and output tokens")
    add("--max-output-tokens", type=whole(1), metavar="N", help="cap on each answer, thoughts included")
    add("--timeout", type=amount("seconds"), metavar="S", help="wait for an answer (default 300; file_based 60)")
    add("--cache", action="store_true", help="take answers to equal calls from llm_cache/ beside the results")
    add("--base-url", metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    add(
        *("--server",),
        dest="servers",
        action="append",
        metavar="NAME=URL[,KEY_VARIABLE]",
        help="a server of yours: NAME/MODEL is asked there (may be repeated; SPCA_SERVERS)",
    )
    add("--model-table", metavar="FILE", help="prices and context sizes of models (docs/models.md)")
    add("--no-preflight", dest="preflight", action="store_false", default=None, help="do not look up the model first")


def asks_people(model: str) -> bool:
    """Return whether a model is somebody who needs the terminal."""
    return model.startswith("human/")


def make(options: Mapping[str, Any]) -> ModelInterface:
    """The model that ``options["model"]`` names."""
    from gridworld.adapters.language_model import make_model

    return make_model(options)


def admit(options: Mapping[str, Any]) -> Sequence[str]:
    """See that the model may be paid for; a line for all that a user should know.

    Raises:
        UserError: the model does not exist or lacks a key, or its cost cannot be capped.
    """
    from gridworld.adapters.admission import require_usable

    return require_usable(options)


def named(model: str, effort: str | None) -> str:
    """The name of a model with the effort that an option asks for.

    Raises:
        SettingsError: the model takes none, or its name asks for another one.
    """
    from gridworld.adapters.admission import add_effort

    return add_effort(model, effort) if effort else model
