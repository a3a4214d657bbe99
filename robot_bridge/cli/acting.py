"""``act``: a plan, carried out by the actions that an agent has learned, on a robot."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import asdict
from pathlib import Path

from robot_bridge.bridge import RobotWorld, act
from robot_bridge.bridge_rigs import OperatorEffects, OperatorJudge, Rig, rig, twin_rig
from robot_bridge.cli import config_file, outputs
from robot_bridge.cli.film import Film
from robot_bridge.cli.journals import Narrator, Several, Trail
from robot_bridge.cli.parser import EXIT_FAILED, EXIT_FINISHED, Settings
from robot_bridge.config import RobotConfig
from robot_bridge.errors import SetupError
from robot_bridge.protocols import Journal
from robot_bridge.recording import BagRecorder
from robot_bridge.wire.topics import Topics
from spca.contracts import Outcome
from spca.errors import PlanTextError
from spca.pddl_text import parse_plan
from spca.runfolder import write_atomic
from spca.sandbox.executor import SandboxExecutor


def run(settings: Settings) -> int:
    """Carry out the plan, say what became of it; the exit code."""
    config, topics = config_file.read(settings.config)
    _check_plan(settings.plan)
    agent = _agent(settings.agent)
    folder = outputs.folder_of(settings)
    trail = Trail()
    with ExitStack() as stack:
        recorder = BagRecorder(folder / outputs.LOG, config)
        stack.callback(recorder.close)
        journals: list[Journal] = [recorder, trail, *([] if settings.quiet else [Narrator()])]
        several = Several(journals)
        executor = stack.enter_context(SandboxExecutor())
        executor.verify()
        make, can_restart = _maker(settings, config, topics, several, journals, folder, stack)
        world = stack.enter_context(closing(RobotWorld(_name(settings), make, executor, can_restart=can_restart)))
        print(f"mission: {world.mission}")
        outcome = act(settings.plan, agent, world)
        navigation = world.rig.controller.navigation
        outputs.write_map(folder / outputs.MAP, navigation.map, trail.poses, ())
    return _report(settings, folder, outcome, trail)


def _maker(
    settings: Settings,
    config: RobotConfig,
    topics: Topics,
    journal: Several,
    journals: list[Journal],
    folder: Path,
    stack: ExitStack,
) -> tuple[Callable[[], Rig], bool]:
    """How a robot that is ready is had, and whether it can be had again at the same start."""
    if settings.robot == "ros2":
        return lambda: _real(settings, config, topics, journal), False

    def make() -> Rig:
        made = twin_rig(settings.world, settings.seed, config=config, journal=journal)
        if settings.film:
            top_view = made.controller.robot.top_view  # type: ignore[attr-defined]  # the twin has one
            journals.append(stack.enter_context(Film(folder / outputs.FILM, top_view)))
            journal.tell(journals)
        return made

    return make, True


def _real(settings: Settings, config: RobotConfig, topics: Topics, journal: Journal) -> Rig:
    from robot_bridge.realtime import MonotonicClock
    from robot_bridge.ros2_robot import Ros2Robot

    clock = MonotonicClock()
    robot = Ros2Robot(domain=settings.domain, config=config, topics=topics)
    judge = OperatorJudge(settings.mission or f"carry out {settings.plan}", _confirmed)
    return rig(robot, clock, OperatorEffects(_asked), judge, journal=journal)


def _asked(question: str) -> str:
    try:
        return input(f"{question}\n> ")
    except EOFError:
        return ""


def _confirmed(mission: str) -> bool:
    return _asked(f"Is the mission complete ({mission})? yes or no").strip().lower().startswith("y")


def _agent(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise SetupError(
            f"--agent {path} cannot be read: {reason}: learn one with python main.py, or give the agent_v*.py of a run"
        ) from error


def _check_plan(text: str) -> None:
    """Before anything is made."""
    try:
        parse_plan(text)
    except PlanTextError as error:
        raise SetupError(str(error)) from error


def _name(settings: Settings) -> str:
    return f"{settings.world} seed {settings.seed}" if settings.robot == "mujoco" else f"domain {settings.domain}"


def _report(settings: Settings, folder: Path, outcome: Outcome, trail: Trail) -> int:
    kept = {
        "settings": asdict(settings),
        "status": outcome.status.value,
        "message": outcome.message,
        "primitives": list(outcome.primitives),
        "interventions": dict(trail.interventions),
    }
    write_atomic(folder / outputs.SUMMARY, json.dumps(kept, indent=1) + "\n")
    at = f" in {outcome.action}({', '.join(outcome.args)})" if outcome.action else ""
    print(f"{outcome.status.value}{at}: {outcome.message}; {outcome.steps} primitives")
    if outcome.traceback.count("\n") > 1:
        print(outcome.traceback, file=sys.stderr)
    print(f"see {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
    return EXIT_FINISHED if outcome.solved else EXIT_FAILED
