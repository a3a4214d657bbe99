"""The command ``multinet-run-eval``: let a model play a benchmark, and tools around tasks and results."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from gridworld.backends import BACKENDS
from gridworld.errors import BudgetSpentError, missing_part
from gridworld.evaluation.models.asked import add_options, asks_people, named
from gridworld.evaluation.models.registry import (
    ASKED,
    MODELS,
    ModelEntry,
    add_limit,
    count,
    count_or_zero,
    find_model,
)
from gridworld.evaluation.running.workers import ENGINES
from gridworld.evaluation.terminal import print_anything, program
from gridworld.evaluation.tooling.commands import COMMANDS
from gridworld.rules.tilings import TILINGS
from spca.common.command import (
    EXIT_FINISHED,
    EXIT_INTERRUPTED,
    EXIT_USER_ERROR,
    Parser,
    complain,
    print_no_more,
    program_scope,
    suggest_name,
)
from spca.common.debug_log import log_error
from spca.common.environment import complete_environment
from spca.common.errors import SPCAError
from spca.common.text import counted

if TYPE_CHECKING:
    from gridworld.evaluation.running.evaluating import Evaluation

_BENCHMARKS: Final = ("validation_10", "tiers", "directory")

_HISTORY: Final = {"both": (True, True), "images": (True, False), "summary": (False, True), "none": (False, False)}
"""Whether earlier images are shown and the last actions told, by the value of ``--history``."""

_EPILOG: Final = f"""\
exit codes: 0 finished, 2 a mistake in what was asked, 3 a cap was reached, 130 interrupted

tools, each with --help of its own: {", ".join(COMMANDS)}

examples:
  %(prog)s --benchmark validation_10 --model random
  %(prog)s --benchmark tiers --tier 1-3 --model bfs --workers 2
  %(prog)s --benchmark tiers --tier 2 --model openai/gpt-6-luna@low --observation text --max-cost 1
  %(prog)s --benchmark directory --task-dir my_tasks --model ollama --ollama-model qwen2.5vl:7b
"""


def build_parser(models: Mapping[str, ModelEntry] = MODELS) -> argparse.ArgumentParser:
    """The parser, with the options of every model.

    Args:
        models: the models that can be named.
    """
    parser = Parser(
        prog=program(),
        description="Let a model play gridworld tasks and measure how well it does.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
        conflict_handler="resolve",  # what a model of the user's own calls an option wins
    )
    known = "; ".join(f"{name}: {entry.help}" if entry.help else name for name, entry in models.items())
    parser.add_argument("--model", required=True, metavar="NAME", help=known.replace("%", "%%"))
    _add_tasks(parser.add_argument_group("what is played"))
    _add_telling(parser.add_argument_group("what the model is given"))
    _add_running(parser.add_argument_group("how it is carried out"))
    add_options(parser.add_argument_group(f"model {ASKED}, and others where it makes sense"))
    for name, entry in models.items():
        if entry.options is not None:
            entry.options(parser.add_argument_group(f"model {name}"))
    return parser


def _add_tasks(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--benchmark", choices=_BENCHMARKS, default="validation_10", help="default %(default)s")
    group.add_argument("--tier", type=_tiers, metavar="TIERS", help="of tiers: all (default), 1, 1-3 or 2,4,5")
    group.add_argument("--task-dir", metavar="DIR", help="folder of tasks, or for tiers of folders tier1, tier2, ...")
    group.add_argument("--strict", action="store_true", help="refuse unknown fields of tasks (default: a warning)")
    group.add_argument("--backend", choices=tuple(BACKENDS), default="minigrid", help="default %(default)s")
    group.add_argument(
        "--tiling",
        choices=tuple(TILINGS),
        default="square",
        help="default %(default)s, where tasks that were made for hex are refused; hex needs multigrid",
    )
    group.add_argument("--seed", type=int, default=42, metavar="N", help="of the model (default 42); tasks have theirs")
    group.add_argument("--device", default="cpu", metavar="NAME", help="where a local model computes (default cpu)")


def _add_telling(group: argparse._ArgumentGroup) -> None:
    switch = argparse.BooleanOptionalAction
    add = group.add_argument
    seen = "what a model sees: the image (default), or a text with a map and no image"
    add("--observation", choices=("image", "text"), default="image", help=seen)
    add("--history-images", type=count_or_zero, default=2, metavar="N", help="earlier images (default 2)")
    add("--history-text", action=switch, default=True, help="what the last actions visibly did (default: yes)")
    window = "how many of them (default 3, or as many as --actions-per-call)"
    add("--history-text-window", type=count, metavar="N", help=window)
    add(
        "--history", choices=tuple(_HISTORY), default="both", help="images, a summary in words, both (default), or none"
    )
    add("--text-observation", action=switch, default=False, help="the text beside the image (default: no)")


def _add_running(group: argparse._ArgumentGroup) -> None:
    add_limit(group)
    add = group.add_argument
    add("--output", type=Path, metavar="FILE", help="results file (default results/<model>_<benchmark>.json)")
    add("--workers", type=count, default=1, metavar="N", help="processes, each with a model of its own (default 1)")
    add("--engine", choices=tuple(ENGINES), default="local", help="processes of this machine (default), or Ray")
    add = group.add_mutually_exclusive_group().add_argument
    kept = "take over kept calls of a model, too, whose results are gone; what was interrupted goes on in any case"
    add("--resume", action="store_true", help=kept)
    add("--overwrite", action="store_true", help="begin again, whatever there is")
    add = group.add_mutually_exclusive_group().add_argument
    add("-v", "--verbose", action="store_true", help="print every step")
    add("--quiet", action="store_true", help="print the summary only")


def main(argv: Sequence[str] | None = None, models: Mapping[str, ModelEntry] | None = None) -> int:
    """Run the command.

    Args:
        argv: arguments; None takes those of the process.
        models: models beside those that ship.

    Returns:
        the exit code: 0 finished, 2 the user's mistake, 3 a cap was reached, 130 interrupted.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    print_anything()
    with program_scope():
        return _call(given, {**MODELS, **(models or {})})


def _call(given: Sequence[str], models: Mapping[str, ModelEntry]) -> int:
    """Evaluate or call a tool; whatever a user can act on ends as a line and an exit code."""
    code = EXIT_FINISHED
    try:
        is_tool = bool(given) and not given[0].startswith("-")
        code = _tool(given[0], given[1:]) if is_tool else _evaluate(given, models)
        print(end="", flush=True)
    except KeyboardInterrupt as error:
        log_error(error)
        complain("interrupted")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # whoever read our output has left; what is written to files is complete
        print_no_more()
    except ImportError as error:
        log_error(error)
        complain(f"error: {missing_part(error, program())}")
        return EXIT_USER_ERROR
    except (SPCAError, OSError) as error:
        log_error(error)
        complain(f"error: {error}")
        return EXIT_USER_ERROR
    return code


def _tool(name: str, arguments: Sequence[str]) -> int:
    if name not in COMMANDS:
        hint = suggest_name(name, COMMANDS)
        known = ", ".join(COMMANDS)
        complain(f"error: there is no command {name!a}; {hint or f'there are {known}; '}--help tells about evaluations")
        return EXIT_USER_ERROR
    return COMMANDS[name](arguments)


def _evaluate(given: Sequence[str], models: Mapping[str, ModelEntry]) -> int:
    arguments = build_parser(models).parse_args(given)
    from gridworld.evaluation.display import show
    from gridworld.evaluation.running.evaluating import Evaluation
    from spca.common.jobs.progress import show_bar

    entry = find_model(arguments.model, models)
    if entry.admit is not None:
        complete_environment((Path.cwd(),), arguments.servers or ())
    settings, how = _settings(arguments, entry)
    evaluation = Evaluation(settings, entry, how)
    for line in evaluation.warnings:
        complain(f"warning: {line}")
    try:
        with show_bar(arguments.quiet or arguments.verbose or asks_people(arguments.model)) as update_bar:
            evaluated = evaluation.run(update_bar, partial(_tell_of_found, quiet=arguments.quiet))
    except KeyboardInterrupt as error:
        log_error(error)
        complain(f"interrupted; {_how_to_go_on(evaluation, given)}")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # of --verbose; what it was to show is not finished
        print_no_more()
        complain(f"interrupted, since nobody reads the output; {_how_to_go_on(evaluation, given)}")
        return EXIT_INTERRUPTED
    except (SPCAError, OSError) as error:
        log_error(error)
        flag = error.flag if isinstance(error, BudgetSpentError) else ""
        more = f"; {_how_to_go_on(evaluation, given, flag)}" if evaluation.can_go_on else ""
        complain(f"{'stopped' if flag else 'error'}: {error}{more}")
        return error.exit_code if isinstance(error, SPCAError) else EXIT_USER_ERROR
    show(evaluated, arguments.quiet)
    return EXIT_FINISHED


def _tell_of_found(finished: int, total: int, *, quiet: bool) -> None:
    if not quiet:
        complain(f"going on: {finished} of {counted(total, 'task')} were finished before")


def _settings(arguments: argparse.Namespace, entry: ModelEntry) -> tuple[Any, Any]:
    from gridworld.evaluation.running.evaluating import How
    from gridworld.evaluation.running.player import Telling
    from gridworld.evaluation.running.settings import Settings

    shows, tells = _HISTORY[arguments.history]
    settings = Settings(
        benchmark=arguments.benchmark,
        model=named(arguments.model, arguments.effort) if entry.admit else arguments.model,
        task_dir=arguments.task_dir,
        tiers=arguments.tier,
        options={name: getattr(arguments, name, None) for name in entry.option_names()},
        backend=arguments.backend,
        tiling=arguments.tiling,
        seed=arguments.seed,
        device=arguments.device,
        limit=arguments.limit,
        telling=Telling(
            arguments.history_images if shows else 0,
            arguments.history_text and tells,
            arguments.history_text_window or max(3, arguments.actions_per_call),
            arguments.text_observation,
            arguments.observation,
        ),
    )
    names = ("output", "workers", "engine", "resume", "overwrite", "verbose", "strict")
    return settings, How(**{name: getattr(arguments, name) for name in names})


def _how_to_go_on(evaluation: Evaluation, given: Sequence[str], flag: str = "") -> str:
    """How many tasks are finished and, where anything is, what to say next.

    Args:
        flag: the option of a cap that was reached.
    """
    if not evaluation.can_go_on:
        return "no task was finished"
    again = [argument for argument in given if argument not in ("--resume", "--overwrite")]
    if flag in again:
        del again[again.index(flag) : again.index(flag) + 2]
    again = [argument for argument in again if not (flag and argument.startswith(f"{flag}="))]
    more = f" {flag} MORE" if flag else ""
    finished = counted(evaluation.finished, "task")
    verb = "is" if evaluation.finished == 1 else "are"
    return f"{finished} {verb} finished; go on with: {program()} {shlex.join([*again, '--resume'])}{more}"


def _tiers(text: str) -> tuple[int, ...] | None:
    from gridworld.evaluation.running.settings import parse_tiers

    return parse_tiers(text)


if __name__ == "__main__":
    sys.exit(main())
