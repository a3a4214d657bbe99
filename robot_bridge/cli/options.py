"""Options of the command line as frozen dataclasses; this module imports nothing that is slow to load.

``--help`` shows the descriptions of the attributes in the docstrings.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Final, Literal, Self

from cyclopts import Parameter

from robot_bridge.onboard.relay import LAST_DOMAIN, resolve_domain
from spca.common.errors import SettingsError
from spca.common.names import find_nearest
from spca.common.options.values import (
    FILE,
    FOLDER,
    MODEL,
    WORD,
    amount,
    name_value,
    option_group,
    text_option,
    whole_number,
)
from spca.llm.catalogue.model_ref import ModelRef
from spca.runs.options import SERVER, USD

CLUTTERED: Final = "cluttered"
"""Value of ``--world`` for a random flat with poles, chairs and people in place of a level."""
DEFAULT_WORLD: Final = "MiniGrid-FourRooms-v0"
DEFAULT_MODEL: Final = "reference/navigator"
NO_MODEL: Final = "none"
"""Value of ``--model`` for frontier exploration without a model."""
DEFAULT_AGENT: Final = Path("workspace/agent.py")

_AGENT: Final = option_group("Agent")
_ROBOT: Final = option_group("Robot")
OUTPUT: Final = option_group("Output")
_MODEL: Final = option_group("Model")
_EXPLORATION: Final = option_group("Exploration")

_SEED: Final = whole_number(0, (1 << 63) - 1)
_DOMAIN: Final = whole_number(0, LAST_DOMAIN)
_WORLD: Final = name_value("ID")
_MINUTES: Final = amount("minutes")
_NUMBER: Final = name_value("N")


def _read_world(text: str) -> str:
    """Return ``text`` unchanged, if it can be the name of a level or of the flat.

    Raises:
        ValueError: the text is a misspelling of the flat's name.
    """
    if text != CLUTTERED and find_nearest(text, (CLUTTERED,)):
        raise ValueError(f"{text!r} is no world (did you mean {CLUTTERED}?)")
    return text


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class RobotOptions:
    """A robot for an agent, which needs the cells of a level, and a camera to know things by.

    Attributes:
        robot: simulated (default) or over ROS 2
        world: MiniGrid level whose twin is built (default MiniGrid-FourRooms-v0)
        seed: of the level and of noise and drift (default 1)
        domain: ROS 2 domain (default ROS_DOMAIN_ID, else 61, the A1's)
        config: YAML with what differs from the default robot (docs/robot.md)
    """

    robot: Literal["mujoco", "ros2"] = "mujoco"
    world: Annotated[str, _WORLD] = DEFAULT_WORLD
    seed: Annotated[int, _SEED] = 1
    domain: Annotated[int | None, _DOMAIN] = None
    config: Annotated[Path | None, FILE] = None

    @property
    def is_simulated(self) -> bool:
        return self.robot == "mujoco"

    def choose_domain(self) -> int:
        """Return the ROS domain from the options, else from the variable ``ROS_DOMAIN_ID``, else the A1's domain.

        Raises:
            SettingsError: the variable does not hold a domain.
        """
        if self.domain is not None:
            return self.domain
        try:
            return resolve_domain(None)
        except ValueError as error:
            raise SettingsError(str(error)) from error

    def describe_place(self) -> dict[str, str | int]:
        """Return level and seed of a simulated robot, or the ROS domain of a real robot."""
        if self.is_simulated:
            return {"world": self.world, "seed": self.seed}
        return {"domain": self.choose_domain()}


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class AnyRobotOptions(RobotOptions):
    """A robot that may stand in the flat, too, and do without a camera.

    Attributes:
        robot: simulated (default) or over ROS 2
        world: MiniGrid level whose twin is built, or cluttered (default MiniGrid-FourRooms-v0)
        seed: of the level and of noise and drift (default 1)
        domain: ROS 2 domain (default ROS_DOMAIN_ID, else 61, the A1's)
        config: YAML with what differs from the default robot (docs/robot.md)
        no_camera: lidar only
    """

    world: Annotated[str, text_option(_read_world), _WORLD] = DEFAULT_WORLD
    no_camera: bool = False


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True, slots=True, kw_only=True)
class OutputOptions:
    """What is written and printed.

    Attributes:
        folder: folder for what is written (default runs/robot/TIME)
        film: write a film of camera and top view (simulated robot)
        quiet: print the result only
    """

    folder: Annotated[Path | None, Parameter(name="--output"), FOLDER] = None
    film: bool = False
    quiet: bool = False


@Parameter(name="*", group=_MODEL)
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """The models of an exploration, and their caps.

    Attributes:
        model: such as openai/gpt-6-luna, google/gemini-3.5-flash-lite or ollama/qwen2.5vl:7b; none: frontier
            exploration without a model (default reference/navigator, embedded, no key)
        observe_model: describes pictures for observe_scene (default: that of --model)
        effort: how much it reasons, such as low: the same as @WORD after --model (default: the least)
        observe_effort: how much it reasons, such as low: the same as @WORD after --observe-model (default: the least)
        base_url: OpenAI-compatible server of openai/... (OPENAI_BASE_URL)
        servers: a server of yours: NAME/MODEL is asked there (may be repeated; SPCA_SERVERS)
        model_table: prices and context sizes of models (docs/models.md)
        no_preflight: do not look up the model at its provider first
        max_cost: cap on the cost (default 0.50)
        max_calls: cap on the requests (--model none needs none)
        fixed_timer: ask every 5 s instead of when there is a reason
    """

    model: Annotated[str, MODEL] = DEFAULT_MODEL
    observe_model: Annotated[str | None, MODEL] = None
    effort: Annotated[str | None, WORD] = None
    observe_effort: Annotated[str | None, WORD] = None
    base_url: Annotated[str | None, name_value("URL")] = None
    servers: Annotated[tuple[str, ...], SERVER] = ()
    model_table: Annotated[str | None, FILE] = None
    no_preflight: bool = False
    max_cost: Annotated[float | None, amount("USD"), USD] = None
    max_calls: Annotated[int | None, whole_number(1)] = None
    fixed_timer: bool = False

    def name_efforts(self) -> Self:
        """Return the options with every effort moved into its model's name.

        Raises:
            SettingsError: :meth:`ModelRef.set_effort` refuses an effort, or an effort is given without its model.
        """
        model = self.model
        observe_model = self.observe_model

        if self.effort:
            model = str(ModelRef.parse(model).set_effort(self.effort, "--effort"))
        if self.observe_effort:
            if observe_model is None:
                fix = "give the model that is to reason so with --observe-model"
                raise SettingsError(f"--observe-effort {self.observe_effort}: {fix}")
            observe_model = str(ModelRef.parse(observe_model).set_effort(self.observe_effort, "--observe-effort"))

        return replace(self, model=model, observe_model=observe_model)


@Parameter(name="*", group=_EXPLORATION)
@dataclass(frozen=True, slots=True, kw_only=True)
class ExploreOptions:
    """Options of ``explore``.

    Attributes:
        minutes: end after so long (default 30)
        memory: go on with the memory of an earlier exploration (memory.yaml)
    """

    robot: AnyRobotOptions = AnyRobotOptions()
    output: OutputOptions = OutputOptions()
    models: ModelOptions = ModelOptions()
    minutes: Annotated[float, _MINUTES, _NUMBER] = 30.0
    memory: Annotated[Path | None, FILE] = None


@Parameter(name="*", group=_AGENT)
@dataclass(frozen=True, slots=True, kw_only=True)
class ActOptions:
    """Options of ``act``.

    Attributes:
        agent: source of the agent (default workspace/agent.py)
        mission: what a real robot's plan is for, for agent and operator
    """

    agent: Annotated[Path, FILE] = DEFAULT_AGENT
    mission: Annotated[str, name_value("TEXT")] = ""
    robot: RobotOptions = RobotOptions()
    output: OutputOptions = OutputOptions()


@Parameter(name="*", group=_ROBOT)
@dataclass(frozen=True, slots=True, kw_only=True)
class TwinOptions:
    """Options of ``twin``.

    Attributes:
        minutes: end after so long (default 30)
    """

    robot: AnyRobotOptions = AnyRobotOptions()
    minutes: Annotated[float, _MINUTES, _NUMBER] = 30.0
