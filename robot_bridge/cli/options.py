"""What can be said on the command line, as frozen values; imports nothing that is slow to load."""

from __future__ import annotations

from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from cyclopts import Parameter

from robot_bridge.onboard.relay import A1_DOMAIN, LAST_DOMAIN, chosen_domain
from spca.common.errors import SettingsError
from spca.common.options.values import amount, option_group, text_option, whole_number
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import SERVER_FORM, SERVER_HELP

CLUTTERED: Final = "cluttered"
"""``--world`` that is no level: a random flat with poles, chairs and people."""
DEFAULT_WORLD: Final = "MiniGrid-FourRooms-v0"
DEFAULT_MODEL: Final = "reference/navigator"
NO_MODEL: Final = "none"
"""``--model`` that explores the frontiers."""
DEFAULT_AGENT: Final = Path("workspace/agent.py")

_AGENT: Final = option_group("Agent")
_ROBOT: Final = option_group("Robot")
OUTPUT: Final = option_group("Output")
_MODEL: Final = option_group("Model")
_EXPLORATION: Final = option_group("Exploration")

_LAST_SEED: Final = (1 << 63) - 1
_LEVEL_HELP: Final = "MiniGrid level whose twin is built"
_DOMAIN_HELP: Final = f"ROS 2 domain (default ROS_DOMAIN_ID, else {A1_DOMAIN}, the A1's)"
_MODEL_HELP: Final = (
    "such as openai/gpt-6-luna, google/gemini-3.5-flash-lite or ollama/qwen2.5vl:7b; "
    f"{NO_MODEL}: frontier exploration without a model (default {DEFAULT_MODEL}, embedded, no key)"
)
_EFFORT_HELP: Final = "how much it reasons, such as low: the same as @WORD after {} (default: the least)"

Minutes = Annotated[float, amount("minutes"), Parameter(metavar="N", help="end after so long (default 30)")]


def _read_world(text: str) -> str:
    """Return ``text``, the name of a level or of the flat.

    Raises:
        ValueError: the flat is misspelled.
    """
    if text != CLUTTERED and get_close_matches(text.lower(), (CLUTTERED,), cutoff=0.75):
        raise ValueError(f"{text!r} is no world (did you mean {CLUTTERED}?)")
    return text


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class RobotOptions:
    """A robot for an agent, which needs the cells of a level, and a camera to know things by."""

    robot: Annotated[Literal["mujoco", "ros2"], Parameter(help="simulated (default) or over ROS 2")] = "mujoco"
    world: Annotated[str, Parameter(metavar="ID", help=f"{_LEVEL_HELP} (default {DEFAULT_WORLD})")] = DEFAULT_WORLD
    seed: Annotated[
        int,
        whole_number(0, _LAST_SEED),
        Parameter(metavar="N", help="of the level and of noise and drift (default 1)"),
    ] = 1
    domain: Annotated[int | None, whole_number(0, LAST_DOMAIN), Parameter(metavar="N", help=_DOMAIN_HELP)] = None
    config: Annotated[
        Path | None, Parameter(metavar="FILE", help="YAML with what differs from the default robot (docs/robot.md)")
    ] = None

    @property
    def is_simulated(self) -> bool:
        return self.robot == "mujoco"

    def choose_domain(self) -> int:
        """Return the ROS domain that was given, else that of ``ROS_DOMAIN_ID``, else the A1's.

        Raises:
            SettingsError: the variable holds no domain.
        """
        if self.domain is not None:
            return self.domain
        try:
            return chosen_domain(None)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def describe_place(self) -> dict[str, str | int]:
        """Return where the robot is: level and seed of a simulated one, else the ROS domain."""
        if self.is_simulated:
            return {"world": self.world, "seed": self.seed}
        return {"domain": self.choose_domain()}


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class AnyRobotOptions(RobotOptions):
    """A robot that may stand in the flat, too, and do without a camera."""

    world: Annotated[
        str,
        text_option(_read_world),
        Parameter(metavar="ID", help=f"{_LEVEL_HELP}, or {CLUTTERED} (default {DEFAULT_WORLD})"),
    ] = DEFAULT_WORLD
    no_camera: Annotated[bool, Parameter(help="lidar only")] = False


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What is written and printed."""

    folder: Annotated[
        Path | None,
        Parameter(name="--output", metavar="DIR", help="folder for what is written (default runs/robot/TIME)"),
    ] = None
    film: Annotated[bool, Parameter(help="write a film of camera and top view (simulated robot)")] = False
    quiet: Annotated[bool, Parameter(help="print the result only")] = False


@Parameter(name="*", group=_MODEL)
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The models of an exploration, and their caps."""

    model: Annotated[str, Parameter(metavar="MODEL", help=_MODEL_HELP)] = DEFAULT_MODEL
    observe_model: Annotated[
        str | None,
        Parameter(metavar="MODEL", help="describes pictures for observe_scene (default: that of --model)"),
    ] = None
    effort: Annotated[str | None, Parameter(metavar="WORD", help=_EFFORT_HELP.format("--model"))] = None
    observe_effort: Annotated[str | None, Parameter(metavar="WORD", help=_EFFORT_HELP.format("--observe-model"))] = None
    base_url: Annotated[
        str | None, Parameter(metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    ] = None
    servers: Annotated[tuple[str, ...], Parameter(name="--server", metavar=SERVER_FORM, help=SERVER_HELP)] = ()
    model_table: Annotated[
        str | None, Parameter(metavar="FILE", help="prices and context sizes of models (docs/models.md)")
    ] = None
    no_preflight: Annotated[bool, Parameter(help="do not look up the model at its provider first")] = False
    max_cost: Annotated[
        float | None, amount("USD"), Parameter(metavar="USD", help="cap on the cost (default 0.50)")
    ] = None
    max_calls: Annotated[
        int | None,
        whole_number(1),
        Parameter(metavar="N", help=f"cap on the requests (--model {NO_MODEL} needs none)"),
    ] = None
    fixed_timer: Annotated[bool, Parameter(help="ask every 5 s instead of when there is a reason")] = False

    def name_efforts(self) -> Self:
        """Return the same with each effort as a part of its model's name.

        Raises:
            SettingsError: see :meth:`ModelRef.with_effort`, or the model of an effort is not given.
        """
        model = self.model
        observe_model = self.observe_model

        if self.effort:
            model = str(ModelRef.parse(model).with_effort(self.effort, "--effort"))
        if self.observe_effort:
            if observe_model is None:
                fix = "give the model that is to reason so with --observe-model"
                raise SettingsError(f"--observe-effort {self.observe_effort}: {fix}")
            observe_model = str(ModelRef.parse(observe_model).with_effort(self.observe_effort, "--observe-effort"))

        return replace(self, model=model, observe_model=observe_model)


@Parameter(name="*", group=_EXPLORATION)
@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """Options of ``explore``."""

    robot: AnyRobotOptions = AnyRobotOptions()
    output: OutputOptions = OutputOptions()
    models: ModelOptions = ModelOptions()
    minutes: Minutes = 30.0
    memory: Annotated[
        Path | None, Parameter(metavar="FILE", help="go on with the memory of an earlier exploration (memory.yaml)")
    ] = None


@Parameter(name="*", group=_AGENT)
@dataclass(frozen=True, slots=True, kw_only=True)
class ActOptions:
    """Options of ``act``."""

    agent: Annotated[Path, Parameter(metavar="FILE", help=f"source of the agent (default {DEFAULT_AGENT})")] = (
        DEFAULT_AGENT
    )
    mission: Annotated[
        str, Parameter(metavar="TEXT", help="what a real robot's plan is for, for agent and operator")
    ] = ""
    robot: RobotOptions = RobotOptions()
    output: OutputOptions = OutputOptions()


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class TwinOptions:
    """Options of ``twin``."""

    robot: AnyRobotOptions = AnyRobotOptions()
    minutes: Minutes = 30.0
