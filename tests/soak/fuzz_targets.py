"""What ``scripts/soak fuzz`` sends its texts through: a table of targets.

Each draws the bytes of an input, and reads them the way the product does: True when they were taken. What may come
instead are the errors that the target names; anything else is a fault.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from gridworld.errors import GridworldError
from gridworld.task.validation import validate
from gridworld.task_spec import TaskSpecification
from spca.bodies.grid.body import GRID
from spca.common.environment import load_environment
from spca.common.errors import SPCAError, UserError
from spca.common.web.packing import to_json
from spca.contracts import GRIDWORLD, PlanStep, Status
from spca.errors import BadAnswerError, PatchError, PlanTextError
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.providers.base import Message
from spca.plan import pddl
from spca.prompts import render
from spca.prompts.formatting import format_state
from spca.reference import planner as reference
from spca.report.level.levels import level
from spca.report.read.run_files import open_run
from spca.report.read.runs import overview
from spca.runs import curriculum
from spca.runs.workspace import Workspace
from spca.sandbox.process import framing, reports, wire
from spca.sandbox.process.runner import Asked, Done, Fault
from spca.sense import perception, slam
from spca.testing.generated_code import make_view
from tests.soak import fuzz_texts as texts
from tests.soak.common import ROOT
from tests.support import untrusted
from tests.support.bodies.grid import agent_state, kept_agent, make_snapshot, merge, planner_state
from tests.support.gridworld.hostile import spoil
from tests.support.report.making import finished_run
from tests.support.spca.call_requests import ref
from tests.support.spca.doubles import AGENT

_GRID: Final = 9
_RUN_FILE: Final = 50_000
"""Bytes: a report shows an agent as often as it changed, so it takes as long as the run is large."""

_MINIGRID: Final = ("unseen", "empty", "wall", "floor", "lava", "goal", "door", "key", "ball", "box", "thing")
_METHODS: Final = "def helper(self, *given):\n    yield 1\n\n\ndef _inner(self):\n    return self.helper\n"


@dataclass(frozen=True, slots=True)
class Target:
    """A reader of text from outside.

    Attributes:
        share: of all inputs.
        draw: the bytes of an input.
        read: what the product does with them; whether they were taken.
        refusals: errors that refuse an input as they should; none: everything is taken.
    """

    share: float
    draw: Callable[[random.Random], bytes]
    read: Callable[[bytes], bool]
    refusals: tuple[type[Exception], ...] = ()


def run_of(input_: bytes) -> bool:
    """Read a run folder one of whose files is replaced: its name is the first line."""
    name, _, content = input_.partition(b"\n")
    folder = _scratch() / "run"
    file = folder / name.decode()
    before = file.read_bytes()
    try:
        file.write_bytes(content)
        files = open_run(folder)
        run = overview(files)
        for row in run.levels[:3]:
            if row.outcome != "pending":
                to_json(level(files, row.number, None))
        to_json(run)
        return True
    finally:
        file.write_bytes(before)


def _coder(input_: bytes) -> bool:
    text = untrusted.answered(input_.decode(errors="surrogatepass"))
    try:
        untrusted.coder_call(text, _agent())
    except PatchError as refusal:
        untrusted.repair("coder_repair", str(refusal))
        raise
    return True


def _planner(input_: bytes) -> bool:
    text = untrusted.answered(input_.decode(errors="surrogatepass"))
    try:
        names, planned = untrusted.planner_call(text)
    except (BadAnswerError, PlanTextError) as refusal:
        untrusted.repair("planner_repair", str(refusal))
        raise
    steps = [names.step(each) for each in planned]
    assert pddl.parse_plan(f"[{', '.join(map(str, steps))}]") == tuple(steps)
    return True


def _curriculum(input_: bytes) -> bool:
    tasks = curriculum.load(_file("curriculum.json", input_)).select(only=("*",)).tasks()
    json.dumps([task.place(1) for task in tasks]).encode()
    return True


def _task(input_: bytes) -> bool:
    return not validate(TaskSpecification.from_json(_file("task.json", input_), warnings=[]))


def _models(input_: bytes) -> bool:
    ModelTable.load(_file("models.json", input_)).info(ref("openai/gpt-5"))
    return True


def _agent_file(input_: bytes) -> bool:
    source = kept_agent(Workspace(_file("agent.py", input_).parent)).text
    untrusted.show_agent(source)
    return True


def _environment(input_: bytes) -> bool:
    before, here = dict(os.environ), Path.cwd()
    folder = _file(".env", input_).parent
    os.environ.pop("PYTHON_DOTENV_DISABLED", None)
    os.chdir(folder)
    try:
        load_environment()
    finally:
        os.chdir(here)
        (folder / ".env").unlink()
        os.environ.clear()
        os.environ.update(before)
    return True


def _mission(input_: bytes) -> bool:
    """The reference planner on a mission in a world that the first byte chooses: one of MiniGrid, or one of a task."""
    rng = random.Random(input_[:1])
    said, category = input_[1:].decode(errors="replace"), rng.choice(("", "", GRIDWORLD))
    plain = [code for code, word in enumerate(perception.VOCABULARY) if category or word.split()[0] in _MINIGRID]
    codes = [rng.choice(plain if rng.random() < 0.2 else (0, 1, 1, 1, 2)) for _ in range(_GRID * _GRID)]
    grid = np.array(codes, dtype=np.uint8).reshape(_GRID, _GRID)
    grid[grid == perception.AGENT] = perception.EMPTY
    grid[4, 4] = perception.AGENT
    snapshot = make_snapshot(said, rng.choice(perception.DIRECTIONS), None, perception.grid_words(grid))
    given = {"snapshot": planner_state(snapshot), "level": {"category": category, "skill": said}}
    nothing = {"actions": "", "trusted": None, "writers": None, "compiles": False, "feedback": None}
    prompt = render("planner_task", **given, **nothing)
    untrusted.planner_call(reference.answer([Message("user", prompt)]))
    return True


def _map(input_: bytes) -> bool:
    """What the agent, the planner and the coder are shown of any image."""
    size, direction, down, right = 7, input_[0] % 4, input_[1] % 20 - 10, input_[2] % 20 - 10
    image = np.frombuffer(input_[3 : 3 + size * size * 3], dtype=np.uint8).reshape(size, size, 3)
    facing = perception.encode_view(image)
    view = perception.rotate_view(facing, direction)
    at = perception.agent_cell(size, direction)
    grid = slam.integrate(slam.empty_map(), view, (down, right), at)
    carried, things = perception.read_carried(facing), perception.visible_objects(facing)
    facing_to = perception.DIRECTIONS[direction]
    words = perception.grid_words(grid.mark_agent((down, right)))
    snapshot = make_snapshot(input_[150:].decode(errors="replace"), facing_to, carried, words, things)
    format_state(planner_state(snapshot)).encode()
    format_state(agent_state(snapshot)).encode()
    shown = make_view(
        mission=snapshot.mission,
        full_grid=grid.codes,
        current_observation=view,
        current_dir=facing_to,
        inventory=carried,
        start_position=grid.origin,
    )
    reader = wire.ViewReader(len(shown.values))
    reader.read(wire.ViewPacker(GRID.interface).pack(shown, 1)[framing.HEADER.size :])
    for sent, value in zip(reader.values, shown.values, strict=True):
        assert np.array_equal(sent, value) if isinstance(value, np.ndarray) else sent == value
    return True


def _frames(input_: bytes) -> bool:
    """What a worker may write into its pipe."""
    frames, found = framing.Frames(), 0
    frames.feed(input_)
    steps = (PlanStep("go", ("x",)),)
    while (frame := frames.next()) is not None:
        if frame.kind != framing.PRINTED:
            reports.event(wire.unpack_answer(frame), steps, ("a", "b"), len(GRID.primitives))
        found += 1
    return found > 0


def _python(rng: random.Random) -> bytes:
    return texts.text(rng, texts.python(rng)).encode(errors="surrogatepass")


def _planned(rng: random.Random) -> bytes:
    return texts.text(rng, texts.planner(rng)).encode(errors="surrogatepass")


def _grid_and_mission(rng: random.Random) -> bytes:
    return bytes([rng.randrange(256)]) + texts.data(rng, texts.mission(rng))


def _image(rng: random.Random) -> bytes:
    beyond = rng.choice((11, 12, 256))
    return bytes(rng.randrange(beyond) for _ in range(150)) + texts.data(rng, texts.mission(rng))[:9000]


def _any_frames(rng: random.Random) -> bytes:
    frames = b""
    for number in range(rng.randint(1, 3)):
        status = rng.choice((Status.RUNTIME_ERROR, Status.SYNTAX_ERROR, Status.MISSING_METHOD))
        answers: list[Asked | Done | Fault] = [Asked(rng.randrange(9), rng.randrange(3), rng.randrange(4)), Done()]
        answers.append(Fault(status, "oops", rng.choice((None, 0, 5)), (("go", rng.randint(0, 9)),)))
        frames += wire.pack_answer(rng.choice(answers), number)
    made = bytearray(frames)
    for _ in range(rng.choice((0, 0, 1, 2))):
        made[rng.randrange(len(made))] = rng.randrange(256)
    return bytes(made)[: rng.choice((len(made), rng.randrange(len(made) + 1)))]


def _task_file(rng: random.Random) -> bytes:
    sample = json.loads(rng.choice(_tasks()))
    return spoil(rng, sample)[1] if rng.random() < 0.5 else texts.json_data(rng, sample)


def _curriculum_file(rng: random.Random) -> bytes:
    sample = [
        {"category_name": "a", "skill": "b", "levels": [{"name": "c", "configs": ["MiniGrid-Empty-5x5-v0", "d"]}]}
    ]
    return texts.json_data(rng, sample)


def _model_table(rng: random.Random) -> bytes:
    entry = {"context": 1000, "max_output": 10, "input": 1.5, "cached": 0, "output": 2, "api": "chat"}
    return texts.json_data(rng, {"models": {"openai/gpt-5": entry, "x/*": {"input": 1}}})


def _run_file(rng: random.Random) -> bytes:
    name = rng.choice(_names())
    content = (_scratch() / "run" / name).read_text(encoding="utf-8")
    if name.endswith(".jsonl"):
        lines = content.splitlines()
        i = rng.randrange(len(lines))
        lines[i] = texts.json_data(rng, json.loads(lines[i])).decode(errors="surrogateescape")
        return f"{name}\n{chr(10).join(lines)}".encode(errors="surrogateescape")
    made = texts.json_data(rng, json.loads(content)) if name.endswith(".json") else texts.data(rng, content)
    return name.encode() + b"\n" + made[:_RUN_FILE]


def _agent_source(rng: random.Random) -> bytes:
    method = texts.python(rng, alone=True)
    inside = "".join(f"    {line}\n" if line else "\n" for line in method.split("\n"))
    made = AGENT.text + rng.choice(("\n", "")) + inside
    return made.encode(errors="replace") if rng.random() < 0.5 else texts.data(rng, made)


def _dotenv(rng: random.Random) -> bytes:
    return texts.data(rng, texts.environment(rng))


@cache
def _agent() -> str:
    return merge(AGENT.text, _METHODS).text


@cache
def _scratch() -> Path:
    """A folder of this process, with a run in it."""
    folder = Path(tempfile.mkdtemp(prefix="spca-fuzz-"))
    shutil.move(finished_run(folder / "runs"), folder / "run")
    return folder


@cache
def _names() -> tuple[str, ...]:
    """Files of the run, but for those whose names hold the time."""
    run = _scratch() / "run"
    files = (path for kind in ("json", "jsonl", "py", "pddl") for path in run.rglob(f"*.{kind}"))
    return tuple(sorted(str(path.relative_to(run)) for path in files if not path.name.startswith("summary_")))


@cache
def _tasks() -> tuple[str, ...]:
    return tuple(path.read_text(encoding="utf-8") for path in sorted(ROOT.glob("gridworld/tasks/*/*.json")))


def _file(name: str, content: bytes) -> Path:
    path = _scratch() / name
    path.write_bytes(content)
    return path


_BAD_ANSWER: Final = (BadAnswerError, PatchError, PlanTextError)
TARGETS: Final[dict[str, Target]] = {
    "coder": Target(0.25, _python, _coder, _BAD_ANSWER),
    "planner": Target(0.20, _planned, _planner, _BAD_ANSWER),
    "agent": Target(0.05, _agent_source, _agent_file, (UserError, PatchError)),
    "mission": Target(0.06, _grid_and_mission, _mission, (SPCAError,)),
    "map": Target(0.08, _image, _map),
    "frames": Target(0.10, _any_frames, _frames, (framing.WireError, reports.ProtocolError)),
    "curriculum": Target(0.08, _curriculum_file, _curriculum, (UserError,)),
    "task": Target(0.08, _task_file, _task, (GridworldError,)),
    "run": Target(0.02, _run_file, run_of, (UserError,)),
    "models": Target(0.05, _model_table, _models, (UserError,)),
    "environment": Target(0.03, _dotenv, _environment, (UserError,)),
}
