"""The command ``multinet-run-eval``: evaluation of a model on a benchmark, and tools for tasks and results."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from cyclopts import App

from gridworld.adapters.plugins import load_named_plugins
from gridworld.errors import BudgetSpentError, missing_part
from gridworld.evaluation.models.asked import asks_people, named
from gridworld.evaluation.models.model_options import AskedOptions
from gridworld.evaluation.models.registry import MODELS, ModelEntry, find_model, list_options
from gridworld.evaluation.options import EvaluationOptions, ObservationOptions
from gridworld.evaluation.terminal import program
from gridworld.evaluation.tooling.commands import add_tools
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, EXIT_USER_ERROR, ExitHandler, complain, discard_output
from spca.common.debug_log import log_error
from spca.common.environment import complete_environment
from spca.common.errors import SettingsError, SPCAError
from spca.common.options.command_line import make_app, run_app
from spca.common.text import format_count

if TYPE_CHECKING:
    from gridworld.evaluation.running.evaluating import Evaluation
    from gridworld.evaluation.running.player import Telling
    from gridworld.evaluation.running.settings import Settings

_OLD_NAMES: Final = {"--engine": "--executor", "--out": "--output"}
"""Maps the former names of options, which still work, to the present names."""
_DEFAULT_WINDOW: Final = 3
"""Default number of last actions whose effects are described to a model."""

_EPILOGUE: Final = """\
models:
{models}

exit codes: 0 finished, 2 a mistake in what was asked, 3 a cap was reached, 130 interrupted

examples:
  {program} --benchmark validation_10 --model random
  {program} --benchmark tiers --tier 1-3 --model bfs --workers 2
  {program} --benchmark tiers --tier 2 --model openai/gpt-6-luna@low --observation text --max-cost 1
  {program} --benchmark directory --task-dir my_tasks --model ollama --ollama-model qwen2.5vl:7b
"""


def main(argv: Sequence[str] | None = None, models: Mapping[str, ModelEntry] | None = None) -> int:
    """Run the command and return its exit code.

    Args:
        argv: arguments of the command; None takes the arguments of the process.
        models: further models, by name, in addition to the built-in models.

    Returns:
        0 finished, 2 the user's mistake, 3 a cap was reached, 130 interrupted.
    """
    words = list(sys.argv[1:] if argv is None else argv)
    all_models = {**MODELS, **(models or {})}
    with ExitHandler() as ending:
        ending.code = _call(build_app(all_models, words), words)
        print(end="", flush=True)
    return ending.code


def _call(app: App, words: Sequence[str]) -> int:
    """Run the evaluation or the tool that the command line names; return the exit code.

    Raises:
        SettingsError: an error occurred on which the user can act.
        BrokenPipeError: the program that reads the output has ended.
    """
    try:
        return run_app(app, words, _OLD_NAMES, load_plugins=load_named_plugins)
    except BrokenPipeError:  # the reader of the output has left; files are complete
        raise
    except ImportError as error:
        raise SettingsError(str(missing_part(error, program()))) from error
    except (SPCAError, OSError) as error:
        raise SettingsError(str(error)) from error


def build_app(models: Mapping[str, ModelEntry] = MODELS, words: Sequence[str] = ()) -> App:
    """Return the command, with the options of every model.

    Args:
        models: the models that ``--model`` accepts, by name.
        words: the command line. If an evaluation is interrupted, a message repeats the command line to the user.
    """

    def evaluate(options: EvaluationOptions, **model_options: object) -> int:
        entry = find_model(options.model, models)
        return _evaluate(options, entry, entry.make_options(model_options), words)

    options_argument = inspect.Parameter("options", inspect.Parameter.KEYWORD_ONLY, annotation=EvaluationOptions)
    # Options of models come first, so that an option of a user's own model wins over a built-in option.
    # The command line reads the options from this signature.
    signature = inspect.Signature([*list_options(models), options_argument])
    evaluate.__signature__ = signature  # type: ignore[attr-defined]

    width = max(map(len, models))
    lines = (f"  {name:<{width}}  {entry.help}".rstrip() for name, entry in models.items())
    epilogue = _EPILOGUE.format(models="\n".join(lines), program=program())
    app = make_app(program(), "Let a model play gridworld tasks and measure how well it does.", epilogue=epilogue)
    app.default(evaluate)
    add_tools(app)
    return app


def _evaluate(options: EvaluationOptions, entry: ModelEntry, model_options: object, words: Sequence[str]) -> int:
    """Run an evaluation, print its tables, and return the exit code.

    Args:
        options: options of the evaluation.
        entry: the model.
        model_options: options of the model; an object of the type ``entry.options``.
        words: the command line.
    """
    from gridworld.evaluation.display import show
    from gridworld.evaluation.running.evaluating import Evaluation
    from spca.common.jobs.progress import show_bar

    running = options.running
    if entry.admit is not None:
        servers = model_options.servers if isinstance(model_options, AskedOptions) else None
        complete_environment((Path.cwd(),), servers or ())
    evaluation = Evaluation(_make_settings(options, entry, model_options), entry, running)
    for line in evaluation.warnings:
        complain(f"warning: {line}")
    try:
        with show_bar(running.quiet or running.verbose or asks_people(options.model)) as update_bar:
            evaluated = evaluation.run(update_bar, partial(_report_resumed, quiet=running.quiet))
    except KeyboardInterrupt as error:
        log_error(error)
        complain(f"interrupted; {_describe_resume(evaluation, words)}")
        return EXIT_INTERRUPTED
    except BrokenPipeError:  # the reader of the --verbose output has left before the evaluation ended
        discard_output()
        complain(f"interrupted, since nobody reads the output; {_describe_resume(evaluation, words)}")
        return EXIT_INTERRUPTED
    except (SPCAError, OSError) as error:
        log_error(error)
        flag = error.flag if isinstance(error, BudgetSpentError) else ""
        more = f"; {_describe_resume(evaluation, words, flag)}" if evaluation.can_go_on else ""
        complain(f"{'stopped' if flag else 'error'}: {error}{more}")
        return error.exit_code if isinstance(error, SPCAError) else EXIT_USER_ERROR
    show(evaluated, running.quiet)
    return EXIT_FINISHED


def _report_resumed(finished: int, total: int, *, quiet: bool) -> None:
    if not quiet:
        complain(f"going on: {finished} of {format_count(total, 'task')} were finished before")


def _make_settings(options: EvaluationOptions, entry: ModelEntry, model_options: object) -> Settings:
    from gridworld.evaluation.running.settings import Settings
    from gridworld.search.solver import DEFAULT_LIMIT

    actions_per_call = model_options.actions_per_call if isinstance(model_options, AskedOptions) else 1
    model = named(options.model, options.effort) if entry.admit else options.model
    telling = _make_telling(options.observation, actions_per_call)
    limit = options.running.limit or DEFAULT_LIMIT
    return Settings(options.tasks, model, model_options, telling, limit)


def _make_telling(given: ObservationOptions, actions_per_call: int) -> Telling:
    """Return the settings of the model's input, made from the options of the command line."""
    from gridworld.evaluation.running.player import Telling

    shows_images = given.history in ("both", "images")
    shows_summary = given.history in ("both", "summary")
    # By default, the window covers all actions that one answer may name.
    default_window = max(_DEFAULT_WINDOW, actions_per_call)
    return Telling(
        history_images=given.history_images if shows_images else 0,
        history_text=given.history_text and shows_summary,
        history_text_window=given.history_text_window or default_window,
        text_observation=given.text_observation,
        observation=given.observation,
    )


def _describe_resume(evaluation: Evaluation, words: Sequence[str], flag: str = "") -> str:
    """Return text with the number of finished tasks and the command that resumes the evaluation.

    If the evaluation cannot be resumed, the text says only that no task was finished.

    Args:
        evaluation: the interrupted evaluation.
        words: the command line of the interrupted evaluation.
        flag: option of the reached cap, because the user must raise its value; "" if no cap was reached.
    """
    if not evaluation.can_go_on:
        return "no task was finished"
    arguments = [argument for argument in words if argument not in ("--resume", "--overwrite")]
    # The option of the cap is written as two arguments or as one with "=".
    if flag in arguments:
        index = arguments.index(flag)
        del arguments[index : index + 2]
    if flag:
        arguments = [argument for argument in arguments if not argument.startswith(f"{flag}=")]
    more = f" {flag} MORE" if flag else ""
    finished = format_count(evaluation.finished, "task")
    verb = "is" if evaluation.finished == 1 else "are"
    command = shlex.join([*arguments, "--resume"])
    return f"{finished} {verb} finished; go on with: {program()} {command}{more}"


if __name__ == "__main__":
    sys.exit(main())
