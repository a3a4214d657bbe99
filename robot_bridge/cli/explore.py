"""The command ``explore``: a model, or frontier exploration, drives the robot through an unknown place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from robot_bridge.cli import config_file, models, outputs, robots
from robot_bridge.cli.journals import Trail
from robot_bridge.cli.options import NO_MODEL, ExploreOptions
from robot_bridge.control.controller import Controller
from robot_bridge.control.realtime import describe_priority
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.errors import DeviceError
from robot_bridge.exploration.endings import Ending, Summary, count_interventions
from robot_bridge.exploration.explorer import Explorer, ExplorerSettings
from robot_bridge.exploration.schedule import AskSettings
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.safety.chain import SafetyChain
from spca.common.debug_log import log_error, log_to_folder
from spca.common.encoding import json_text
from spca.common.files import write_atomic
from spca.common.text import format_count
from spca.llm.calls.desk import CallDesk

_MAX_REASONS: Final = 8
"""At the end, at most this many reasons for interventions of the safety chain are printed."""


def explore_place(options: ExploreOptions) -> int:
    """Explore, write the files of the exploration, print a summary, and return the exit code."""
    robot = options.robot
    outputs.require_filmable(robot, options.output)
    config, topics = config_file.read(robot.config)
    memory = ExplorationMemory()
    if options.memory:
        memory.load_from_disk(options.memory)
    resolved_models = models.resolve_models(options.models, robot)
    trail = Trail()
    with ExitStack() as stack:
        body = stack.enter_context(robots.open_robot(robot, config, topics))
        folder = outputs.make_output_folder(options.output)
        stack.enter_context(log_to_folder(folder))
        model, call_desk = models.account_calls(resolved_models, options.models, robot.seed, folder)
        journals = outputs.open_journals(options.output, config, folder, body.clock.now(), body.top_view, stack)

        navigation = Navigation(config, body.start)
        controller = Controller(body.robot, body.clock, navigation, SafetyChain(config))
        controller.journals = (*journals, trail)
        asking = AskSettings(is_adaptive=not options.models.fixed_timer)
        settings = ExplorerSettings(asking=asking, memory_path=folder / outputs.MEMORY)
        runner = body.runner(controller)
        explorer = Explorer(controller, model, body.link(), runner=runner, settings=settings, memory=memory)
        stack.callback(_close, controller, explorer)

        _greet(options, body, folder)
        summary = _explore(explorer, options.minutes)
        outputs.write_map(folder / outputs.MAP, navigation.map, trail.poses, navigation.frontiers(), memory)

    summary = replace(_drop_unsent(summary, call_desk), interventions=count_interventions(summary.interventions))
    _report(options, folder, summary, call_desk)
    ending = Ending(summary.ended)
    for fault in _list_model_faults(ending, model):
        print(fault, file=sys.stderr)
    return ending.exit_code


def _explore(explorer: Explorer, minutes: float) -> Summary:
    """Explore and return the summary.

    If the robot fails, print the error and return the summary up to the failure.
    """
    try:
        return explorer.run(minutes)
    except DeviceError as error:
        log_error(error)
        print(f"error: {error}", file=sys.stderr)
        return explorer.summary()


def _close(controller: Controller, explorer: Explorer) -> None:
    """Close the controller.

    If the exploration ended because the robot failed, ignore a DeviceError, because the failure was reported already.
    """
    try:
        controller.close()
    except DeviceError:
        if explorer.summary().ended != Ending.FAILED:
            raise


def _list_model_faults(ending: Ending, model: models.AccountedModel | None) -> Iterator[str]:
    """Yield messages about faults of the models.

    There are no messages if the exploration was interrupted or had no model.
    """
    if model is None or ending is Ending.INTERRUPTED:
        return
    if model.ended:
        yield f"the model was asked no more: {model.ended}"
    elif ending is Ending.NO_MODEL:
        yield f"the model never answered: {model.failure or 'no answer came in time'}"
    if model.unseeing:
        yield f"nothing more was described: {model.unseeing}"


def _drop_unsent(summary: Summary, call_desk: CallDesk | None) -> Summary:
    """Return the summary without the calls that failed before a request was sent, such as a call past the budget."""
    unsent = summary.calls - len(call_desk.ledger.records) if call_desk else 0
    # The difference can be negative, because an unsent call does not count as failed if its result was not awaited.
    failed = max(0, summary.failed_calls - unsent)
    return replace(summary, calls=summary.calls - unsent, failed_calls=failed)


def _greet(options: ExploreOptions, body: robots.ReadyRobot, folder: Path) -> None:
    """Print what the robot lacks and, unless the output is quiet, what is about to happen."""
    robot = options.robot
    model = options.models.model
    observe_model = options.models.observe_model
    if body.camera_fault:
        print(f"no camera, the robot drives by lidar alone: {body.camera_fault}", flush=True)
    if options.output.film and body.top_view is None:
        print("the film shows the map alone: nothing else can be drawn without a camera", flush=True)
    if body.priority_fault:
        print(f"priority: {describe_priority(body.priority_fault)}", flush=True)
    if options.output.quiet:
        return

    where = f"{robot.world}, seed {robot.seed}" if robot.is_simulated else f"ROS 2 domain {robot.choose_domain()}"
    driver = "frontier exploration without a model" if model == NO_MODEL else model
    observer = f", {observe_model} describes what it looks at" if observe_model else ""
    limit = f"at most {options.minutes:g} minutes of the robot's time"
    print(f"{driver} explores {where}, {limit}{observer}; writes {folder}", flush=True)


def _record_options(options: ExploreOptions) -> dict[str, object]:
    """Return the options in the form in which the summary file holds them."""
    return {
        "command": "explore",
        **asdict(options.robot),
        **options.robot.describe_place(),
        **asdict(options.models),
        **asdict(options.output),
        "minutes": options.minutes,
        "memory": options.memory,
    }


def _report(options: ExploreOptions, folder: Path, summary: Summary, call_desk: CallDesk | None) -> None:
    """Write the summary into ``folder`` and print the summary."""
    records = call_desk.ledger.records if call_desk else ()
    cost = sum((record.cost or 0 for record in records), start=0)
    written = {"settings": _record_options(options), **asdict(summary), "cost_usd": float(cost)}
    write_atomic(folder / outputs.SUMMARY, json_text(written, indent=1) + "\n")

    driven = f"{summary.minutes:.1f} min, {summary.distance_m:.0f} m driven"
    explored = f"{summary.explored_m2:.0f} m2 explored, {summary.frontiers_left} frontiers left"
    print(f"ended: {summary.ended} ({summary.because}); {driven}, {explored}")

    observer = options.models.observe_model
    described = f", {format_count(summary.descriptions, 'description')} asked of {observer}" if observer else ""
    calls = f"{summary.calls} calls ({summary.failed_calls} failed, {summary.skips} skipped)"
    print(f"model: {calls}, {summary.refusals} decisions refused{described}, {cost:.4f} USD")

    for reason, count in list(summary.interventions.items())[:_MAX_REASONS]:
        times = "time" if count == 1 else "times"
        print(f"safety: {reason}, {count} {times}")
    outputs.print_files(folder)
