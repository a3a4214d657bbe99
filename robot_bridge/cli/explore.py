"""``explore``: a model, or the frontiers, drive the robot through an unknown place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import Final

from robot_bridge.cli import bodies, config_file, models, outputs
from robot_bridge.cli.film import Film
from robot_bridge.cli.journals import Narrator, Several, Trail
from robot_bridge.cli.parser import NO_MODEL, Settings
from robot_bridge.config import RobotConfig
from robot_bridge.control.controller import Controller
from robot_bridge.control.realtime import told
from robot_bridge.decisions.memory.exploration_memory import ExplorationMemory
from robot_bridge.errors import DeviceError
from robot_bridge.exploration.endings import Ending, Summary, stepped_in
from robot_bridge.exploration.explorer import Explorer, ExplorerSettings
from robot_bridge.exploration.schedule import AskSettings
from robot_bridge.navigation.navigation import Navigation
from robot_bridge.protocols import Journal
from robot_bridge.safety.chain import SafetyChain
from spca.common.debug_log import log_error, log_to_folder
from spca.common.encoding import json_text
from spca.common.files import write_atomic
from spca.common.text import counted
from spca.llm.calls.desk import CallDesk

_MOST_REASONS: Final = 8
"""For which the safety chain stepped in, that are told at the end."""


def run(settings: Settings) -> int:
    """Explore, write what was found, say what it came to; the exit code."""
    config, topics = config_file.read(settings.config)
    memory = ExplorationMemory()
    if settings.memory:
        memory.load_from_disk(settings.memory)
    named, trail = models.named(settings), Trail()
    with ExitStack() as stack:
        body = stack.enter_context(bodies.opened(settings, config, topics))
        folder = outputs.folder_of(settings)
        stack.enter_context(log_to_folder(folder))
        model, desk = models.accounted(named, settings, folder)
        journal = _journals(settings, config, folder, body, trail, stack)
        navigation = Navigation(config, body.start)
        controller = Controller(body.robot, body.clock, navigation, SafetyChain(config), journal)
        choices = ExplorerSettings(
            asking=AskSettings(is_adaptive=not settings.fixed_timer), memory_path=folder / outputs.MEMORY
        )
        runner = body.runner(controller)
        explorer = Explorer(controller, model, body.link(), runner=runner, settings=choices, memory=memory)
        stack.callback(_close, controller, explorer)
        _greet(settings, body, folder)
        summary = _explored(explorer, settings.minutes)
        outputs.write_map(folder / outputs.MAP, navigation.map, trail.poses, navigation.frontiers(), memory)
    summary = replace(_sent(summary, desk), interventions=stepped_in(summary.interventions))
    _report(settings, folder, summary, desk)
    ended = Ending(summary.ended)
    for fault in _faults(ended, model):
        print(fault, file=sys.stderr)
    return ended.exit_code


def _explored(explorer: Explorer, minutes: float) -> Summary:
    """What the exploration came to; a robot that failed ends it with a line, and what was found is written."""
    try:
        return explorer.run(minutes)
    except DeviceError as error:
        log_error(error)
        print(f"error: {error}", file=sys.stderr)
        return explorer.summary()


def _close(controller: Controller, explorer: Explorer) -> None:
    """A robot that has failed and cannot be told to stop was reported by its failure."""
    try:
        controller.close()
    except DeviceError:
        if explorer.summary().ended != Ending.FAILED:
            raise


def _faults(ended: Ending, model: models.AccountedModel | None) -> Iterator[str]:
    """What was wrong with the models."""
    if model is None or ended is Ending.INTERRUPTED:
        return
    if model.ended:
        yield f"the model was asked no more: {model.ended}"
    elif ended is Ending.NO_MODEL:
        yield f"the model never answered: {model.failure or 'no answer came in time'}"
    if model.unseeing:
        yield f"nothing more was described: {model.unseeing}"


def _sent(summary: Summary, desk: CallDesk | None) -> Summary:
    """The summary without the calls that came to nothing before anything was sent, such as one past the budget."""
    unsent = summary.calls - len(desk.ledger.records) if desk else 0
    # One whose failure nobody waited for was not counted as failed.
    return replace(summary, calls=summary.calls - unsent, failed_calls=max(0, summary.failed_calls - unsent))


def _journals(
    settings: Settings, config: RobotConfig, folder: Path, body: bodies.Body, trail: Trail, stack: ExitStack
) -> Journal:
    journals: list[Journal] = [stack.enter_context(outputs.log_in(folder, config)), trail]
    if not settings.quiet:
        journals.append(Narrator(began=body.clock.now()))
    if settings.film:
        journals.append(stack.enter_context(Film(folder / outputs.FILM, body.top_view)))
    return Several(journals)


def _greet(settings: Settings, body: bodies.Body, folder: Path) -> None:
    if body.camera_fault:
        print(f"no camera, the robot drives by lidar alone: {body.camera_fault}", flush=True)
    if settings.film and body.top_view is None:
        print("the film shows the map alone: nothing else can be drawn without a camera", flush=True)
    if body.priority_fault:
        print(f"priority: {told(body.priority_fault)}", flush=True)
    if settings.quiet:
        return
    where = (
        f"{settings.world}, seed {settings.seed}" if settings.robot == "mujoco" else f"ROS 2 domain {settings.domain}"
    )
    driver = "frontier exploration without a model" if settings.model == NO_MODEL else settings.model
    observer = f", {settings.observe_model} describes what it looks at" if settings.observe_model else ""
    limit = f"at most {settings.minutes:g} minutes of the robot's time"
    print(f"{driver} explores {where}, {limit}{observer}; writes {folder}", flush=True)


def _report(settings: Settings, folder: Path, summary: Summary, desk: CallDesk | None) -> None:
    cost = sum((record.cost or 0 for record in desk.ledger.records), start=0) if desk else 0
    observer = settings.observe_model
    described = f", {counted(summary.descriptions, 'description')} asked of {observer}" if observer else ""
    kept = {"settings": asdict(settings), **asdict(summary), "cost_usd": float(cost)}
    write_atomic(folder / outputs.SUMMARY, json_text(kept, indent=1) + "\n")
    print(
        f"ended: {summary.ended} ({summary.because}); {summary.minutes:.1f} min, {summary.distance_m:.0f} m driven, "
        f"{summary.explored_m2:.0f} m2 explored, {summary.frontiers_left} frontiers left"
    )
    print(
        f"model: {summary.calls} calls ({summary.failed_calls} failed, {summary.skips} skipped), "
        f"{summary.refusals} decisions refused{described}, {cost:.4f} USD"
    )
    for reason, count in list(summary.interventions.items())[:_MOST_REASONS]:
        print(f"safety: {reason}, {count} {'time' if count == 1 else 'times'}")
    print(f"see {folder}: {', '.join(sorted(path.name for path in folder.iterdir()))}")
