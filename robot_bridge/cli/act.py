"""``act``: a plan, carried out by the actions that an agent has learned, on a robot."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from robot_bridge.agent import plan as agent_plan
from robot_bridge.agent.rigs import OperatorEffects, OperatorJudge, Rig, rig, twin_rig
from robot_bridge.agent.world import RobotWorld, act
from robot_bridge.cli import bodies, config_file, outputs
from robot_bridge.cli.film import Film
from robot_bridge.cli.journals import Narrator, Several, Trail
from robot_bridge.cli.parser import Settings
from robot_bridge.config import RobotConfig
from robot_bridge.control.realtime import real_time, told
from robot_bridge.errors import SetupError
from robot_bridge.protocols import Journal
from robot_bridge.ros.topics import Topics
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_INTERRUPTED, EXIT_USER_ERROR, other_program
from spca.common.debug_log import log_error, log_to_folder
from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import read_text, write_atomic
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import WorldError
from spca.sandbox.executor import SandboxExecutor

_SETTINGS: Final = ("command", "robot", "plan", "agent", "config", "film")
_SETTINGS_OF_ROBOTS: Final = {"mujoco": ("world", "seed"), "ros2": ("domain",)}
"""What of the settings makes a difference, in the summary."""


@dataclass(frozen=True, slots=True)
class _Ending:
    """What became of the plan: ``status`` is that of its outcome, or interrupted, or failed where the robot did;
    ``place`` is the step at fault, in words."""

    status: str
    message: str
    primitives: tuple[int, ...]
    exit_code: int
    place: str = ""
    traceback: str = ""


def run(settings: Settings) -> int:
    """Carry out the plan, say what became of it; the exit code. Whatever can be refused is, before the robot moves."""
    _refuse_senseless(settings)
    config, topics = config_file.read(settings.config)
    agent = _agent(settings)
    trail, journal = Trail(), Several(())
    with ExitStack() as stack:
        executor = stack.enter_context(SandboxExecutor())
        executor.verify()
        ready = _ready(settings, config, topics, journal, stack)
        stack.callback(ready.close)
        folder = outputs.folder_of(settings)
        stack.enter_context(log_to_folder(folder))
        journal.tell(_journals(settings, config, folder, ready, trail, stack))
        print(f"mission: {ready.judge.mission}")
        ending = _carried_out(settings, agent, ready, executor)
        outputs.write_map(folder / outputs.MAP, ready.controller.navigation.map, trail.poses, ())
    _report(settings, folder, ending, ready, trail)
    return ending.exit_code


def _refuse_senseless(settings: Settings) -> None:
    if settings.robot == "mujoco" and settings.world == bodies.CLUTTERED:
        raise SetupError(f"--world {bodies.CLUTTERED}: act needs a level, such as MiniGrid-Empty-5x5-v0")
    if settings.robot == "ros2" and settings.film:
        raise SetupError("--film is for the simulated robot: look at the log of a real one with a viewer of bags")


def _agent(settings: Settings) -> AgentSource:
    """The agent, which can begin the plan."""
    agent_plan.parsed(settings.plan)
    called = f"--agent {settings.agent}"
    try:
        agent = AgentSource(read_text(Path(settings.agent)))
    except FileError as error:
        raise SetupError(
            f"--agent {error}: learn one with {other_program('python main.py')} run, or give the agent_v*.py of a run"
        ) from error
    agent_plan.checked(settings.plan, agent, called)
    return agent


def _ready(settings: Settings, config: RobotConfig, topics: Topics, journal: Journal, stack: ExitStack) -> Rig:
    """A robot before its first action; a real one is driven in real time, what runs the agent's source is not."""
    if settings.robot == "mujoco":
        return twin_rig(settings.world, settings.seed, config=config, journal=journal)
    from robot_bridge.control.realtime import MonotonicClock
    from robot_bridge.ros.robot import Ros2Robot

    if fault := stack.enter_context(real_time()):
        print(f"priority: {told(fault)}", flush=True)
    robot = Ros2Robot(domain=settings.domain, config=config, topics=topics)
    judge = OperatorJudge(settings.mission or f"carry out {settings.plan}", _confirmed)
    return rig(robot, MonotonicClock(), OperatorEffects(_asked), judge, journal=journal)


def _asked(question: str) -> str:
    try:
        return input(f"{question}\n> ")
    except EOFError:
        return ""


def _confirmed(mission: str) -> bool:
    return _asked(f"Is the mission complete ({mission})? yes or no").strip().lower().startswith("y")


def _journals(
    settings: Settings, config: RobotConfig, folder: Path, ready: Rig, trail: Trail, stack: ExitStack
) -> list[Journal]:
    journals: list[Journal] = [stack.enter_context(outputs.log_in(folder, config)), trail]
    if not settings.quiet:
        journals.append(Narrator(began=ready.controller.clock.now()))
    if settings.film:
        top_view = ready.controller.robot.top_view  # type: ignore[attr-defined]  # the twin has one
        journals.append(stack.enter_context(Film(folder / outputs.FILM, top_view)))
    return journals


def _carried_out(settings: Settings, agent: AgentSource, ready: Rig, executor: SandboxExecutor) -> _Ending:
    """What became of the plan; the robot stands then."""
    name = f"{settings.world} seed {settings.seed}" if settings.robot == "mujoco" else f"domain {settings.domain}"
    steps: list[int] = []
    try:
        with closing(RobotWorld(name, lambda: ready, executor, can_restart=False)) as world:
            steps = world.previous_actions
            outcome = act(settings.plan, agent.text, world)
    except KeyboardInterrupt:
        return _Ending("interrupted", "the robot was stopped", tuple(steps), EXIT_INTERRUPTED)
    except WorldError as error:
        log_error(error)
        return _Ending("failed", str(error), tuple(steps), EXIT_USER_ERROR)
    return _Ending(
        outcome.status.value,
        outcome.message,
        outcome.primitives,
        EXIT_FINISHED if outcome.status is Status.SUCCESS else EXIT_FAILED,
        f" in {PlanStep(outcome.action, outcome.args)}" if outcome.action else "",
        outcome.traceback,
    )


def _report(settings: Settings, folder: Path, ending: _Ending, ready: Rig, trail: Trail) -> None:
    state = ready.controller.state
    kept = {
        "settings": {name: getattr(settings, name) for name in (*_SETTINGS, *_SETTINGS_OF_ROBOTS[settings.robot])},
        "mission": ready.judge.mission,
        "status": ending.status,
        "message": ending.message,
        "minutes": state.explore_time_s / 60,
        "distance_m": state.distance_traveled_m,
        "primitives": ending.primitives,
        "interventions": dict(trail.interventions),
    }
    write_atomic(folder / outputs.SUMMARY, json_text(kept, indent=1) + "\n")
    print(
        f"{ending.status}{ending.place}: {ending.message}; {state.explore_time_s / 60:.1f} min, "
        f"{state.distance_traveled_m:.0f} m driven; {len(ending.primitives)} primitives"
    )
    if ending.traceback.count("\n") > 1:
        print(ending.traceback, file=sys.stderr)
    if ending.exit_code == EXIT_USER_ERROR:
        print(f"error: {ending.message}", file=sys.stderr)
    print(f"see {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
