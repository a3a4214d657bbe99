"""The command line of ``evaluate``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from spca.common.command import PROGRAM_VARIABLE, Parser, amount, ranged
from spca.errors import ResumeError
from spca.evaluation import selection
from spca.evaluation.eval_folder import EvaluationSettings
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVER_FORM, SERVER_HELP

DEFAULT_SEEDS: Final = "1000:1100"
EMBEDDED: Final = "reference/planner"
NO_MODEL: Final = "none"

_COUNT: Final = ranged(int, "invalid count {!r}: expected a positive integer", 1)
_ATTEMPTS: Final = ranged(int, "invalid count {!r}: expected 1 to 100", 1, 100)
_SEED: Final = ranged(int, "invalid seed {!r}: expected a non-negative integer")
_USD: Final = amount("USD", zero=True)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; options that were not given are absent from its namespace."""
    parser = Parser(
        prog=f"{os.environ.get(PROGRAM_VARIABLE, 'main.py')} evaluate",
        description="Play unseen seeds with what was learned: no code is written, no call is paid unless named.",
        argument_default=argparse.SUPPRESS,
    )
    add = parser.add_argument
    add("--agent", metavar="FILE|RUN", help="an agent.py, or a run and its writers (default: the latest finished run)")
    add(
        "--seeds", type=seeds, metavar="A:B", help=f"ranges without their end: 1000:1020,5000 (default {DEFAULT_SEEDS})"
    )
    add("--categories", metavar="A,B", help="these only (default: those that the run learned)")
    add("--ids", metavar="GLOB", help="only environment ids that match")
    add("--outside", action="store_true", help="play the ids that the curriculum lacks too, counted apart")
    add("--attempts", type=_ATTEMPTS, metavar="N", help="plans an episode may try, each after an undo (default 1)")
    add("--versus", choices=("bot",), help="have the bot of BabyAI play the same episodes")
    add("--rename-words", type=_SEED, metavar="SEED", help="other words for colours and kinds, everywhere")
    add("--upstream-rules", action="store_true", help="judge as minigrid does, its known defects included")
    how = parser.add_argument_group("how")
    how.add_argument("--workers", type=_COUNT, metavar="N", help="processes (default: one for each processor)")
    how.add_argument("--runs", metavar="DIR", help="where runs and evaluations lie (default runs)")
    how.add_argument(
        "--resume", metavar="ID", help="go on with an evaluation that was interrupted: its id, or how it begins"
    )
    how.add_argument("--quiet", action="store_true", help="print nothing but errors and the final tables")
    _add_model(parser.add_argument_group("a model for what no stored writer plans"))
    return parser


def _add_model(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--planner-model", metavar="MODEL", help=f"default {EMBEDDED}; {NO_MODEL}: writers alone")
    add("--planner-effort", metavar="WORD", help="how much it reasons, such as high")
    add("--base-url", metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    add("--server", dest="servers", action="append", metavar=SERVER_FORM, help=SERVER_HELP)
    add("--model-table", metavar="FILE", help="context sizes and prices of models (docs/models.md)")
    add("--max-cost", type=_USD, metavar="USD", help="cap on the cost")
    add("--max-calls", type=_COUNT, metavar="N", help="cap on the requests")
    add("--max-tokens", type=_COUNT, metavar="N", help="cap on input and output tokens")
    add("--engine", metavar="NAME", help="planning engine (default: by kind of problem)")
    add("--unsafe-no-sandbox", action="store_true", help="run the agent's code without the sandbox; see main.py --help")


def seeds(text: str) -> str:
    """Return the value of ``--seeds`` as it was given.

    Raises:
        ArgumentTypeError: it does not name seeds.
    """
    try:
        selection.seeds(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


OF_PLANNING: Final = (
    *("planner_effort", "base_url", "servers", "model_table", "max_cost", "max_calls", "max_tokens"),
    *("engine", "unsafe_no_sandbox", "rename_words"),
)
"""Options that are settings of a run, too."""


def models_of(planner: str) -> dict[str, str]:
    """Return the models of a run whose planner is ``planner``; its coder, who is never asked, is of the same kind."""
    coder = "reference/coder" if ModelRef.parse(planner).is_embedded else planner
    return {"planner_model": planner, "planner_small_model": planner, "coder_model": coder}


def contradiction(given: Mapping[str, Any], recorded: EvaluationSettings) -> None:
    """Refuse options that are not those of the evaluation to be resumed.

    Raises:
        ResumeError: names the option.
    """
    known = asdict(recorded)
    for name, value in given.items():
        if name not in known or name == "planning":
            continue
        same = (value, Path(value).name) if name == "agent" else (value,)
        if known[name] not in same:
            flag = f"--{name.replace('_', '-')}"
            said = flag if value is True else f"{flag} {value}"
            has = "was begun without" if known[name] in (None, False) else f"has {known[name]}"
            raise ResumeError(f"{said} contradicts the evaluation, which {has}: leave {flag} out")


def parse(arguments: Sequence[str]) -> dict[str, Any]:
    """Return the options given, by name."""
    return vars(build_parser().parse_args(arguments))
