"""The commands and their help; a command imports its modules only when called, so that help is quick."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Final

from cyclopts import App, Parameter

from robot_bridge.cli.options import OUTPUT, ActOptions, AnyRobotOptions, ExploreOptions, TwinOptions
from robot_bridge.exploration.endings import Ending
from spca.common.command import EXIT_USER_ERROR, program
from spca.common.options.command_line import make_app

_DESCRIPTION: Final = """\
A robot explored by a model and driven by the agent's actions, in simulation (mujoco) or over ROS 2 (ros2).
Nothing reaches the wheels but through one safety chain; docs/robot.md says what it promises and what not."""

_EPILOGUE: Final = """\
exit codes (explore --help lists more):
    0  finished
    1  it differs, or something is missing
    2  a mistake in what was asked
  130  interrupted, and the robot was stopped

examples:
  {program} explore --minutes 15 --film
  {program} explore --model openai/gpt-6-luna --max-cost 0.5
  {program} act "[go_to_object(a1, ball_red)]" --world BabyAI-GoToRedBallNoDists-v0 --seed 3
  {program} replay runs/robot/20261122-101500-1a2b"""


def make_robot_app() -> App:
    """Return the command-line program with all commands."""
    name = program("python -m robot_bridge")
    app = make_app(name, _DESCRIPTION, epilogue=_EPILOGUE.format(program=name))
    app.command(run_explore, name="explore", help_epilogue=_list_endings())
    app.command(run_act, name="act", help_epilogue="")
    app.command(run_replay, name="replay", help_epilogue="")
    app.command(run_doctor, name="doctor", help_epilogue="")
    app.command(run_twin, name="twin", help_epilogue="")
    return app


def _list_endings() -> str:
    """Return the epilogue of ``explore --help``: a line for each exit code."""
    codes = [(EXIT_USER_ERROR, "", "a mistake in what was asked")]
    for ending in Ending:
        if ending is not Ending.STOPPED:
            codes.append((ending.exit_code, ending.value, ending.sentence))
    lines = ["exit codes, and the word for each ending:"]
    for code, word, sentence in sorted(codes):
        lines.append(f"  {code:>3}  {word:<15}  {sentence}")
    return "\n".join(lines)


def run_explore(options: ExploreOptions = ExploreOptions()) -> int:
    """Let a model explore; write a log, a map, the memory and a summary."""
    from robot_bridge.cli.explore import explore_place

    return explore_place(replace(options, models=options.models.name_efforts()))


def run_act(
    plan: Annotated[str, Parameter(name="PLAN", help='such as "[reach_goal(a1, goal_green)]"')],
    /,
    options: ActOptions = ActOptions(),
) -> int:
    """Carry out a plan with the actions that an agent has learned."""
    from robot_bridge.cli.act import carry_out_plan

    return carry_out_plan(plan, options)


def run_replay(
    log: Annotated[Path, Parameter(name="LOG", help="folder of an earlier command, or its bag")],
    /,
    *,
    quiet: Annotated[bool, Parameter(group=OUTPUT, help="print the verdict only")] = False,
) -> int:
    """Go through a log again: a timeline, and the safety chain held against it."""
    from robot_bridge.cli.replay import replay_log

    return replay_log(log, quiet=quiet)


def run_doctor(options: AnyRobotOptions = AnyRobotOptions()) -> int:
    """Tell which sensors answer, how often and how old, and try the way to a stop."""
    from robot_bridge.cli.doctor.command import examine_robot

    return examine_robot(options)


def run_twin(options: TwinOptions = TwinOptions()) -> int:
    """Serve a simulated robot over DDS in real time, as the real one appears."""
    from robot_bridge.cli.twin import serve_twin

    return serve_twin(options)
