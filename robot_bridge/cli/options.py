"""What can be said on the command line, and the one value that it becomes."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Final

from robot_bridge.exploration.endings import Ending
from robot_bridge.onboard.relay import A1_DOMAIN, chosen_domain
from spca.common.command import EXIT_USER_ERROR, Parser, amount, program, whole
from spca.common.errors import SettingsError
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVER_FORM, SERVER_HELP

ROBOTS: Final = ("mujoco", "ros2")
DEFAULT_WORLD: Final = "MiniGrid-FourRooms-v0"
CLUTTERED: Final = "cluttered"
"""``--world`` that is no level: a random flat with poles, chairs and people."""
DEFAULT_MODEL: Final = "reference/navigator"
NO_MODEL: Final = "none"
"""``--model`` that explores the frontiers."""
DEFAULT_AGENT: Final = "workspace/agent.py"

_EFFORT_OF: Final = {"model": "effort", "observe_model": "observe_effort"}
"""Option of a model -> option of its effort, which is another way to write ``@WORD`` after the model."""

COMMANDS_HELP: Final = {
    "explore": "let a model explore; writes a log, a map, the memory and a summary",
    "act": "carry out a plan with the actions that an agent has learned",
    "replay": "go through a log again: a timeline, and the safety chain held against it",
    "doctor": "tell which sensors answer, how often and how old, and try the way to a stop",
    "twin": "serve a simulated robot over DDS in real time, as the real one appears",
}

_DESCRIPTION: Final = """\
A robot explored by a model and driven by the agent's actions, in simulation (mujoco) or over ROS 2 (ros2).
Nothing reaches the wheels but through one safety chain; docs/robot.md says what it promises and what not."""

_EPILOG: Final = """\
exit codes: 0 finished, 1 it differs or something is missing, 2 a mistake in what was asked, 130 interrupted (the robot
was stopped); those of explore are in its --help

examples:
  %(prog)s explore --minutes 15 --film
  %(prog)s explore --model openai/gpt-6-luna --max-cost 0.5
  %(prog)s act "[go_to_object(a1, ball_red)]" --world BabyAI-GoToRedBallNoDists-v0 --seed 3
  %(prog)s replay runs/robot/20261122-101500-1a2b"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a command is told; one value passed down."""

    command: str
    robot: str = "mujoco"
    world: str = DEFAULT_WORLD
    seed: int = 1
    model: str = DEFAULT_MODEL
    observe_model: str | None = None
    base_url: str | None = None
    servers: tuple[str, ...] = ()
    model_table: str | None = None
    preflight: bool = True
    minutes: float = 30.0
    fixed_timer: bool = False
    camera: bool = True
    film: bool = False
    out: str | None = None
    memory: str | None = None
    config: str | None = None
    domain: int = A1_DOMAIN
    max_cost: float | None = None
    max_calls: int | None = None
    quiet: bool = False
    plan: str = ""
    mission: str = ""
    agent: str = DEFAULT_AGENT
    log: str = ""


def build_parser() -> argparse.ArgumentParser:
    """The parser; options that were not given are absent from its namespace."""
    layout = argparse.RawDescriptionHelpFormatter
    called = program("python -m robot_bridge")
    parser = Parser(prog=called, description=_DESCRIPTION, epilog=_EPILOG, formatter_class=layout)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    def command(name: str, epilog: str = "") -> argparse.ArgumentParser:
        text = COMMANDS_HELP[name]
        return commands.add_parser(
            name, help=text, description=text, epilog=epilog, formatter_class=layout, argument_default=argparse.SUPPRESS
        )

    explore = command("explore", _endings())
    _add_robot(explore)
    _add_output(explore)
    _add_model(explore)
    _add_exploration(explore)
    act = command("act")
    act.add_argument("plan", metavar="PLAN", help='such as "[reach_goal(a1, goal_green)]"')
    act.add_argument("--agent", metavar="FILE", help=f"source of the agent (default {DEFAULT_AGENT})")
    act.add_argument("--mission", metavar="TEXT", help="what a real robot's plan is for, for agent and operator")
    act.add_argument("--film", action="store_true", help="write a film of camera and top view (simulated robot)")
    _add_robot(act, for_agent=True)
    _add_output(act)
    replay = command("replay")
    replay.add_argument("log", metavar="LOG", help="folder of an earlier command, or its bag")
    replay.add_argument("--quiet", action="store_true", help="print the verdict only")
    _add_robot(command("doctor"))
    twin = command("twin")
    _add_robot(twin)
    twin.add_argument("--minutes", type=amount("minutes"), metavar="N", help="end after so long (default 30)")
    return parser


def _endings() -> str:
    codes = [(ending.exit_code, ending.value, ending.sentence) for ending in Ending if ending is not Ending.STOPPED]
    lines = [*codes, (EXIT_USER_ERROR, "", "a mistake in what was asked")]
    return "exit codes, and the word for each ending:\n" + "\n".join(
        f"  {code:>3}  {word:<15}  {sentence}" for code, word, sentence in sorted(lines)
    )


def parse(argv: Sequence[str] | None = None) -> Settings:
    """Settings from a command line; complains in one line and exits with 2."""
    parser = build_parser()
    given = vars(parser.parse_args(argv))
    if "domain" not in given and (given.get("robot") == "ros2" or given["command"] == "twin"):
        try:
            given["domain"] = chosen_domain(None)
        except ValueError as error:
            parser.error(str(error))
    given["servers"] = tuple(given.get("servers", ()))
    try:
        return Settings(**_with_efforts(given))
    except SettingsError as error:
        parser.error(str(error))


def _with_efforts(given: dict[str, Any]) -> dict[str, Any]:
    """The options with each effort in the name of its model.

    Raises:
        SettingsError: see :meth:`ModelRef.with_effort`, or the model of an effort is not given.
    """
    for model, option in _EFFORT_OF.items():
        if effort := given.pop(option, None):
            if model not in given:
                raise SettingsError(
                    f"{_flag(option)} {effort}: give the model that is to reason so with {_flag(model)}"
                )
            given[model] = str(ModelRef.parse(given[model]).with_effort(effort, _flag(option)))
    return given


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def _add_robot(parser: argparse.ArgumentParser, *, for_agent: bool = False) -> None:
    """An agent needs the cells of a level, and a camera to know things by."""
    worlds = "MiniGrid level whose twin is built" + ("" if for_agent else f", or {CLUTTERED}")
    group = parser.add_argument_group("robot")
    group.add_argument("--robot", choices=ROBOTS, help="simulated (default) or over ROS 2")
    group.add_argument(
        "--world", type=str if for_agent else _world, metavar="ID", help=f"{worlds} (default {DEFAULT_WORLD})"
    )
    group.add_argument("--seed", type=_count, metavar="N", help="of the level and of noise and drift (default 1)")
    group.add_argument(
        "--domain", type=_count, metavar="N", help=f"ROS 2 domain (default ROS_DOMAIN_ID, else {A1_DOMAIN}, the A1's)"
    )
    group.add_argument("--config", metavar="FILE", help="YAML with what differs from the default robot (docs/robot.md)")
    if not for_agent:
        group.add_argument("--no-camera", dest="camera", action="store_false", help="lidar only")


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--out", metavar="DIR", help="folder for what is written (default runs/robot/TIME)")
    group.add_argument("--quiet", action="store_true", help="print the result only")


def _add_model(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument(
        "--model",
        metavar="MODEL",
        help="such as openai/gpt-6-luna, google/gemini-3.5-flash-lite or ollama/qwen2.5vl:7b; "
        f"none: frontier exploration without a model (default {DEFAULT_MODEL}, embedded, no key)",
    )
    group.add_argument(
        "--observe-model", metavar="MODEL", help="describes pictures for observe_scene (default: that of --model)"
    )
    for model, option in _EFFORT_OF.items():
        same = f"how much it reasons, such as low: the same as @WORD after {_flag(model)} (default: the least)"
        group.add_argument(_flag(option), metavar="WORD", help=same)
    group.add_argument("--base-url", metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    group.add_argument("--server", dest="servers", action="append", metavar=SERVER_FORM, help=SERVER_HELP)
    group.add_argument("--model-table", metavar="FILE", help="prices and context sizes of models (docs/models.md)")
    told = "do not look up the model at its provider first"
    group.add_argument("--no-preflight", dest="preflight", action="store_false", help=told)
    group.add_argument("--max-cost", type=amount("USD"), metavar="USD", help="cap on the cost (default 0.50)")
    group.add_argument("--max-calls", type=_requests, metavar="N", help="cap on the requests")
    group.add_argument("--fixed-timer", action="store_true", help="ask every 5 s instead of when there is a reason")


def _add_exploration(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("exploration")
    group.add_argument("--minutes", type=amount("minutes"), metavar="N", help="end after so long (default 30)")
    group.add_argument("--memory", metavar="FILE", help="go on with the memory of an earlier exploration (memory.yaml)")
    group.add_argument("--film", action="store_true", help="write a film of camera and top view (simulated robot)")


_count: Final = whole(0, (1 << 63) - 1)


def _requests(text: str) -> int:
    number = _count(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"0 leaves no request: --model {NO_MODEL} explores without a model")
    return number


def _world(text: str) -> str:
    if text != CLUTTERED and get_close_matches(text.lower(), (CLUTTERED,), cutoff=0.75):
        raise argparse.ArgumentTypeError(f"unknown world {text!r}: did you mean {CLUTTERED}?")
    return text
