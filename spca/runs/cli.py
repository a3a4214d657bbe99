"""The command line of ``main.py``: parser, settings and where each value comes from."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final

from spca import __version__
from spca.common.command import PROGRAM_VARIABLE, Parser, amount, ranged
from spca.common.environment import complete_environment
from spca.common.errors import SettingsError
from spca.common.installation import home
from spca.errors import ResumeError
from spca.llm.catalogue.servers import SERVER_FORM, SERVER_HELP
from spca.llm.providers.base import TIMEOUT_S
from spca.runs import model_choice
from spca.runs.model_choice import ModelOptions, models_for_resume, resolve_models
from spca.runs.settings import ABLATIONS, MAY_CHANGE_ON_RESUME, OF_THIS_SESSION, Settings

UNSAFE_VARIABLE: Final = "SPCA_UNSAFE_NO_SANDBOX"
"""Environment variable that confirms ``--unsafe-no-sandbox``."""

_PATHS: Final = ("curriculum", "workspace", "runs")

_FLAGS: Final = {setting: flag for flag, setting in ABLATIONS.items()}

_SEED: Final = ranged(int, "invalid seed {!r}: expected a non-negative integer")
_COUNT: Final = ranged(int, "invalid count {!r}: expected a positive integer", 1)
_SECONDS: Final = amount("seconds")
_USD: Final = amount("USD", zero=True)


def _build_parser(commands: Mapping[str, str]) -> Parser:
    """Return the parser; options that were not given are absent from its namespace."""
    parser = Parser(
        prog=os.environ.get(PROGRAM_VARIABLE, "main.py"),
        description="Sense-Plan-Code-Act: learn a curriculum of grid-world levels by planning and writing code.",
        argument_default=argparse.SUPPRESS,
    )
    parser.add_argument(
        "command",
        nargs="?",
        metavar=f"{{{','.join(commands)}}}",
        default="run",
        help="; ".join(f"{name}: {text}" for name, text in commands.items()),
    )
    choose = parser.add_argument_group("what to run")
    choose.add_argument("--start-category", metavar="NAME", help="begin with this category (case-insensitive)")
    choose.add_argument("--only", metavar="A,B", help="run these categories only")
    choose.add_argument("--levels", metavar="GLOB", help="only levels or environment ids that match")
    choose.add_argument("--seed", type=_SEED, metavar="N", help="seed of every environment (default 1)")
    rules = "judge as minigrid does, its known defects included"
    choose.add_argument("--upstream-rules", action="store_true", help=rules)
    choose.add_argument("--curriculum", metavar="FILE", help="curriculum to learn (default merged_curriculum2.json)")
    keep = parser.add_argument_group("what to keep")
    keep.add_argument("--keep-agent", action="store_true", help="continue from the workspace's agent.py")
    keep.add_argument("--keep-pddl", action="store_true", help="trust the workspace's domain.pddl and problem.pddl")
    keep.add_argument(
        "--resume", metavar="RUN_ID", help="go on with a run that was interrupted: its id, or how it begins"
    )
    keep.add_argument("--workspace", metavar="DIR", help="folder of the growing agent (default workspace)")
    keep.add_argument("--runs", metavar="DIR", help="where run folders lie (default runs)")
    _add_ablations(parser.add_argument_group("ablations"))
    _add_models(parser.add_argument_group("models and solver"))
    _add_caps(parser.add_argument_group("what a run may spend"))
    show = parser.add_argument_group("display")
    show.add_argument("--render", action="store_true", help="open a window that shows the episode")
    show.add_argument("--quiet", action="store_true", help="print nothing but errors and the final table")
    show.add_argument("--version", action="version", version=f"sense-plan-code-act {__version__}")
    return parser


def _add_ablations(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    told = "keep problem writers and try them before a model is asked (default)"
    add("--compile", action=argparse.BooleanOptionalAction, help=told)
    add("--no-reuse", dest="reuse", action="store_false", help="show no PDDL that solved a level before")
    told = "keep rewritten methods without running solved levels again"
    add("--no-regression-check", dest="regression_check", action="store_false", help=told)
    told = "begin each category with the initial agent and no writers"
    add("--no-curriculum", dest="carry_over", action="store_false", help=told)
    told = "tell models formats and primitives only, nothing of how such worlds work"
    add("--bare-prompt", action="store_true", help=told)
    told = "replace the words for colours and kinds by invented ones"
    add("--rename-words", type=_SEED, metavar="SEED", help=told)


def _add_models(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--planner-model", metavar="MODEL", help="plans, replans and repairs, such as openai/gpt-6.1-sol")
    add("--planner-small-model", metavar="MODEL", help="adapts PDDL that is already trusted")
    add("--coder-model", metavar="MODEL", help="writes actions")
    for model, effort in model_choice.EFFORT_OF.items():
        same = f"how much it reasons, such as high: the same as @WORD after --{model.replace('_', '-')}"
        add(f"--{effort.replace('_', '-')}", metavar="WORD", help=same)
    add("--base-url", metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    add("--server", dest="servers", action="append", metavar=SERVER_FORM, help=SERVER_HELP)
    add("--model-table", metavar="FILE", help="context sizes and prices of models (docs/models.md)")
    told = "do not look up the models at their providers first"
    add("--no-preflight", dest="preflight", action="store_false", help=told)
    add("--cache", action="store_true", help="serve calls that were made before, in any run, from files")
    wait = f"seconds to wait for an answer (default {TIMEOUT_S:g})"
    add("--timeout", type=_SECONDS, metavar="S", help=wait)
    add("--max-output-tokens", type=_COUNT, metavar="N", help="cap on each answer, reasoning included")
    add("--engine", metavar="NAME", help="planning engine (default: by kind of problem)")
    unsafe = f"run generated code without the sandbox; needs {UNSAFE_VARIABLE}=1 in the environment as well"
    add("--unsafe-no-sandbox", action="store_true", help=unsafe)


def _add_caps(group: argparse._ArgumentGroup) -> None:
    cost = f"cap on the cost of a run (default {model_choice.DEFAULT_MAX_COST:g}, where prices are known)"
    group.add_argument("--max-cost", type=_USD, metavar="USD", help=cost)
    group.add_argument("--max-calls", type=_COUNT, metavar="N", help="cap on the requests to models of a run")
    group.add_argument("--max-tokens", type=_COUNT, metavar="N", help="cap on a run's input and output tokens")


def model_options(given: Mapping[str, Any]) -> ModelOptions:
    """Return what the options say of models."""
    values = {each.name: given[each.name] for each in fields(ModelOptions) if each.name in given}
    return ModelOptions(**values | {"servers": tuple(given.get("servers", ()))})


def resolve_settings(given: Mapping[str, Any], root: Path, recorded: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a new run, or of one that goes on with those ``recorded``, once nothing contradicts.

    Raises:
        UserError: flags that exclude one another or contradict the run.
    """
    environ = load_environment(root, _server_texts(given, recorded))
    cwd = Path.cwd()
    if recorded is None:
        settings = settings_from(given, environ, root, cwd)
    else:
        settings = resumed_settings(given, recorded, environ, cwd)
    check_choice(settings)
    return settings


def settings_from(given: Mapping[str, Any], environ: Mapping[str, str], root: Path, cwd: Path) -> Settings:
    """Settings of a new run: flag, else environment (``SPCA_PLANNER_MODEL`` ...), else default.

    Args:
        given: the options that stand on the command line.
        root: folder of the applications, where the default curriculum lies; in a checkout workspace and runs too.
        cwd: what relative paths are relative to.

    Raises:
        SettingsError: a model or an address that cannot be meant.
    """
    values: dict[str, Any] = {"models": resolve_models(model_options(given), environ, cwd)}
    kept = home(root, cwd)
    paths = {"curriculum": root / "merged_curriculum2.json", "workspace": kept / "workspace", "runs": kept / "runs"}
    for name, default in paths.items():
        values[name] = str(cwd / given.get(name, default))
    engine = given.get("engine") or environ.get("SPCA_ENGINE") or None
    rest = {f.name: given[f.name] for f in fields(Settings) if f.name in given and f.name not in values}
    return Settings(**{**rest, **values, "engine": engine})


def resumed_settings(
    given: Mapping[str, Any], recorded: Mapping[str, Any], environ: Mapping[str, str], cwd: Path, kind: str = "run"
) -> Settings:
    """Settings of a run that goes on: as recorded, but for what may change.

    Servers may have moved: a flag says so, and for those without a flag the environment. A run may be given other
    models, by flags alone; an evaluation may not.

    Args:
        kind: what goes on, as the user knows it.

    Raises:
        ResumeError: names the flag that contradicts the run, or the run is of another version.
        SettingsError: an address that cannot be meant.
    """
    if recorded.keys() != Settings("", "", "").record().keys():
        raise ResumeError(f"the {kind} was begun by another version of this program: begin a new one")
    settings = Settings.from_record({**recorded, **OF_THIS_SESSION})
    models = models_for_resume(model_options(given), settings.models, environ, cwd, kind)
    changed: dict[str, Any] = {"models": models}
    for each in fields(Settings):
        if each.name not in given:
            continue
        value = given[each.name]
        wanted = str(cwd / value) if each.name in _PATHS else value
        was = recorded[each.name]
        if each.name in MAY_CHANGE_ON_RESUME:
            changed[each.name] = wanted
        elif wanted != was:
            flag = _FLAGS.get((each.name, value), f"--{each.name.replace('_', '-')}")
            contradiction = flag if isinstance(value, bool) else f"{flag} {value}"
            has = "was begun without" if was is None or isinstance(was, bool) else f"has {was}"
            raise ResumeError(f"{contradiction} contradicts the {kind}, which {has}: leave {flag} out")
    return replace(settings, **changed)


def parse(
    argv: Sequence[str] | None,
    commands: Mapping[str, str],
    others: Collection[str] = (),
    outside: Mapping[str, str] | None = None,
    further_flags: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the options given, by name, and the ``command``.

    Args:
        commands: what each command does, by name; ``run`` is the default.
        others: those with a parser of their own: they get all ``arguments``.
        outside: further ones of that kind, and what they do, which the caller looks for before it calls this.
        further_flags: flags that the caller has taken out of ``argv``.
    """
    arguments = sys.argv[1:] if argv is None else argv
    if arguments and arguments[0] in others:
        return {"command": arguments[0], "arguments": arguments}
    outside = outside or {}
    known = {**commands, **outside}
    parser = _build_parser(known)
    parser.further_flags = further_flags
    parsed, surplus = parser.parse_known_args(arguments)
    given: dict[str, Any] = vars(parsed)
    if given["command"] in {*others, *outside}:
        parser.error(f"{given['command']} comes before its options")
    if any(word.startswith("-") for word in surplus) or (surplus and given["command"] in known):
        parser.error(f"unrecognized arguments: {' '.join(surplus)}")
    if given["command"] not in known:  # only now: the value of a flag that does not exist is taken for a command
        parser.error(f"invalid choice: {given['command']!r} (choose from {', '.join(map(repr, known))})")
    return given


def _server_texts(given: Mapping[str, Any], recorded: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Return what flags and the record of a run say of the user's own servers."""
    of_run = (recorded or {}).get("servers") or ""
    return (*given.get("servers", ()), str(of_run))


def load_environment(root: Path, servers: Collection[str] = ()) -> Mapping[str, str]:
    """Return the environment, completed from ``.env`` in the working directory or the checkout.

    Warns of variables of the environment that are nearly ours.

    Args:
        root: the checkout.
        servers: values of ``--server``, which name variables of the user's own.

    Raises:
        FileError: such a file cannot be read.
        SettingsError: a line of it is misspelled, or there is no working directory any more.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError("the current folder was deleted: change to another one") from error
    complete_environment((here, root), servers)
    return os.environ


def check_choice(settings: Settings) -> None:
    """Refuse settings that exclude one another.

    Raises:
        SettingsError: names the flags.
    """
    if settings.start_category and settings.only:
        raise SettingsError("--start-category and --only exclude each other: give one of them")
    if settings.keep_pddl and not settings.reuse:
        raise SettingsError("--keep-pddl and --no-reuse exclude each other: give one of them")
    models = settings.models
    if settings.bare_prompt and models.embedded == models.refs:
        raise SettingsError(
            f"--bare-prompt: {models.planner} does not read prompts: give other models, "
            "with --planner-model and --coder-model, or leave it out"
        )
    if settings.rename_words is not None and models.embedded:
        raise SettingsError(
            f"--rename-words: {models.embedded[0]} reads the true words only: give other models, "
            "with --planner-model and --coder-model, or leave it out"
        )
    if settings.unsafe_no_sandbox and os.environ.get(UNSAFE_VARIABLE) != "1":
        raise SettingsError(
            "--unsafe-no-sandbox lets generated code do whatever you can do: "
            f"confirm it with {UNSAFE_VARIABLE}=1 in the environment, or leave it out"
        )
    if settings.render and not {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"} & os.environ.keys():
        raise SettingsError("--render opens a window, but there is no display: leave it out or set DISPLAY")
