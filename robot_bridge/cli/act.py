"""The command ``act``: a robot carries out a plan by means of the actions that an agent has learned."""

from __future__ import annotations

import sys
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path

from robot_bridge.agent import plan as agent_plan
from robot_bridge.agent.rigs import OperatorEffects, OperatorJudge, Rig, twin_rig
from robot_bridge.agent.world import RobotWorld, act
from robot_bridge.cli import config_file, outputs
from robot_bridge.cli.journals import Trail
from robot_bridge.cli.options import CLUTTERED, ActOptions, RobotOptions
from robot_bridge.config import RobotConfig
from robot_bridge.control.realtime import describe_priority, real_time
from robot_bridge.errors import SetupError
from robot_bridge.exploration.endings import count_interventions
from robot_bridge.ros.topics import Topics
from spca.common.command import EXIT_FAILED, EXIT_FINISHED, EXIT_INTERRUPTED, EXIT_USER_ERROR, other_program
from spca.common.debug_log import log_error, log_to_folder
from spca.common.encoding import json_text
from spca.common.errors import FileError
from spca.common.files import read_text, write_atomic
from spca.contracts import AgentSource, PlanStep, Status
from spca.errors import WorldError
from spca.sandbox.executor import SandboxExecutor


@dataclass(frozen=True, slots=True)
class _Ending:
    """Result of carrying out a plan.

    ``status`` is the status of the plan's outcome, "interrupted", or "failed" if the robot failed. ``place`` names the
    step at fault, or is "".
    """

    status: str
    message: str
    primitives: tuple[int, ...]
    exit_code: int
    place: str = ""
    traceback: str = ""


def carry_out_plan(plan: str, options: ActOptions) -> int:
    """Carry out the plan, report the result and return the exit code.

    All options and the plan are checked before the robot moves.
    """
    robot = options.robot
    if robot.is_simulated and robot.world == CLUTTERED:
        raise SetupError(f"--world {CLUTTERED}: act needs a level, such as MiniGrid-Empty-5x5-v0")
    outputs.require_filmable(robot, options.output)
    config, topics = config_file.read(robot.config)
    agent = _load_agent(plan, options.agent)
    trail = Trail()
    with ExitStack() as stack:
        executor = stack.enter_context(SandboxExecutor())
        executor.verify()
        mission = options.mission or f"carry out {plan}"
        rig = _make_rig(robot, mission, config, topics, stack)
        stack.callback(rig.close)
        folder = outputs.make_output_folder(options.output)
        stack.enter_context(log_to_folder(folder))

        controller = rig.controller
        top_view = getattr(controller.robot, "top_view", None)
        began = controller.clock.now()
        journals = outputs.open_journals(options.output, config, folder, began, top_view, stack)
        controller.journals = (*journals, trail)

        print(f"mission: {rig.judge.mission}")
        ending = _run_plan(plan, robot, agent, rig, executor)
        outputs.write_map(folder / outputs.MAP, controller.navigation.map, trail.poses, ())
    _report(plan, options, folder, ending, rig)
    return ending.exit_code


def _load_agent(plan: str, path: Path) -> AgentSource:
    """Read the agent's source and check that the agent can carry out the plan."""
    agent_plan.read_steps(plan)
    called = f"--agent {path}"
    try:
        agent = AgentSource(read_text(path))
    except FileError as error:
        advice = f"learn one with {other_program('python main.py')} run, or give the agent_v*.py of a run"
        raise SetupError(f"--agent {error}: {advice}") from error
    agent_plan.check_plan(plan, agent, called)
    return agent


def _make_rig(options: RobotOptions, mission: str, config: RobotConfig, topics: Topics, stack: ExitStack) -> Rig:
    """Return the rig: the robot with everything that an agent's world needs.

    For a real robot, this process gets real-time priority until ``stack`` closes. The sandbox that runs the agent's
    source was started before and keeps its normal priority.

    Args:
        options: say which robot to use.
        mission: the mission, for the question to a real robot's operator at the end.
        config: the robot's configuration.
        topics: topics of a real robot.
        stack: ends the real-time priority.
    """
    if options.is_simulated:
        return twin_rig(options.world, options.seed, config=config)
    from robot_bridge.control.realtime import MonotonicClock
    from robot_bridge.ros.robot import Ros2Robot

    if fault := stack.enter_context(real_time()):
        print(f"priority: {describe_priority(fault)}", flush=True)
    robot = Ros2Robot(domain=options.choose_domain(), config=config, topics=topics)
    judge = OperatorJudge(mission, _confirm_mission)
    return Rig(robot, MonotonicClock(), OperatorEffects(_ask_operator), judge)


def _ask_operator(question: str) -> str:
    try:
        return input(f"{question}\n> ")
    except EOFError:
        return ""


def _confirm_mission(mission: str) -> bool:
    answer = _ask_operator(f"Is the mission complete ({mission})? yes or no")
    return answer.strip().lower().startswith("y")


def _run_plan(plan: str, robot: RobotOptions, agent: AgentSource, rig: Rig, executor: SandboxExecutor) -> _Ending:
    """Carry out the plan, stop the robot and return the result."""
    name = f"{robot.world} seed {robot.seed}" if robot.is_simulated else f"domain {robot.choose_domain()}"
    primitives: list[int] = []
    try:
        with closing(RobotWorld(name, lambda: rig, executor, can_restart=False)) as world:
            primitives = world.previous_actions  # the world appends to this list
            outcome = act(plan, agent.text, world)
    except KeyboardInterrupt:
        return _Ending("interrupted", "the robot was stopped", tuple(primitives), EXIT_INTERRUPTED)
    except WorldError as error:
        log_error(error)
        return _Ending("failed", str(error), tuple(primitives), EXIT_USER_ERROR)

    exit_code = EXIT_FINISHED if outcome.status is Status.SUCCESS else EXIT_FAILED
    place = f" in {PlanStep(outcome.action, outcome.args)}" if outcome.action else ""
    return _Ending(
        outcome.status.value, outcome.message, outcome.primitives, exit_code, place, traceback=outcome.traceback
    )


def _report(plan: str, options: ActOptions, folder: Path, ending: _Ending, rig: Rig) -> None:
    """Write the summary of a plan into ``folder`` and print the result."""
    state = rig.controller.state
    minutes = state.explore_time_s / 60
    settings = {
        "command": "act",
        "robot": options.robot.robot,
        "plan": plan,
        "agent": options.agent,
        "config": options.robot.config,
        "film": options.output.film,
        **options.robot.describe_place(),
    }
    interventions = count_interventions(rig.controller.interventions.counts)
    summary = {
        "settings": settings,
        "mission": rig.judge.mission,
        "status": ending.status,
        "message": ending.message,
        "minutes": minutes,
        "distance_m": state.distance_traveled_m,
        "primitives": ending.primitives,
        "interventions": interventions,
    }
    write_atomic(folder / outputs.SUMMARY, json_text(summary, indent=1) + "\n")

    outcome = f"{ending.status}{ending.place}: {ending.message}"
    driven = f"{minutes:.1f} min, {state.distance_traveled_m:.0f} m driven"
    print(f"{outcome}; {driven}; {len(ending.primitives)} primitives")
    is_real_traceback = ending.traceback.count("\n") > 1
    if is_real_traceback:
        print(ending.traceback, file=sys.stderr)
    if ending.exit_code == EXIT_USER_ERROR:
        print(f"error: {ending.message}", file=sys.stderr)
    outputs.print_files(folder)
