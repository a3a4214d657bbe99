"""The gates of ``scripts/soak gridworld``: each takes a slice of the work and tells figures and what was wrong."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, TypeAlias

from gridworld.errors import SearchLimitError
from gridworld.generating.generator import content, generate
from gridworld.library import task_files
from gridworld.rules.episode import Episode
from gridworld.rules.layout import Layout
from gridworld.rules.tilings import TILINGS
from gridworld.search.certificate import Certificate, recertify
from gridworld.search.solver import solve
from gridworld.task.reading import unprintable
from gridworld.task.validation import check_file
from gridworld.task_spec import TaskSpecification
from tests.soak.common import ROOT, environment
from tests.soak.journal import Figures
from tests.support.gridworld.exhaustive import check_random_tasks
from tests.support.gridworld.families import blocks_in_the_open, keys_and_doors
from tests.support.gridworld.features import features, regenerate
from tests.support.gridworld.hostile import heavy, places, spoil
from tests.support.gridworld.one_truth import run

Gate = Callable[[int, int, int], Figures]
"""Takes a seed, the number of the first item and how many there are; ``wrong`` of its figures lists what was wrong."""

_STEPS = 40
_SECONDS = 300
_SECONDS_OF_CPU = 10


def tasks(seed: int, first: int, count: int) -> Figures:
    """Generate tasks of all tiers, one in four hexagonal, and prove again what is said of them."""
    wrong, found, contents = list[str](), set[str](), list[str]()
    for number in range(first, first + count):
        spec = generate(1 + number % 5, seed, index=number, tiling="hex" if number // 5 % 4 == 3 else "square")
        wrong += [f"{spec.task_id}: {line}" for line in _task_problems(spec)]
        found.update(features(spec))
        contents.append(content(spec))
    return {"count": count, "wrong": wrong, "features": sorted(found), "contents": contents}


def _task_problems(spec: TaskSpecification) -> Iterator[str]:
    yield from spec.validate()[1]
    stored = Certificate.from_dict((spec.metadata or {}).get("certificate", {}))
    if not stored.sound:
        yield "the certificate is not sound"
    yield from recertify(spec)
    with tempfile.TemporaryDirectory() as folder:
        spec.to_json(Path(folder) / "task.json")
        if TaskSpecification.from_json(Path(folder) / "task.json") != spec:
            yield "comes back from a file changed"
    if regenerate(spec) != spec:
        yield "is made again differently"


def files(seed: int, first: int, count: int) -> Figures:
    """Mutated and hostile files: named problems from the library and from the real command, or a task that plays."""
    rng = random.Random(f"files {seed} {first}")
    valid = [TaskSpecification.from_json(path).to_dict() for path in task_files("tiers")]
    valid += [generate(1 + i % 5, seed, index=first + i).to_dict() for i in range(5)]
    with tempfile.TemporaryDirectory() as folder:
        paths = dict(_spoiled(rng, valid, Path(folder), count))
        if not first:
            paths |= dict.fromkeys(places(Path(folder)), "place")
            (heaviest := Path(folder) / "heavy.json").write_bytes(heavy(rng, valid[0]))
            paths[heaviest] = "heavy"
        problems = {path: check_file(path, warnings=[]) for path in paths}
        wrong = [
            f"{paths[path]} {first} {path.name}: {line}"
            for path in paths
            for line in _file_problems(rng, path, problems[path])
        ]
        wrong += [f"files {first}: {line}" for line in _command_problems(problems)]
    refused = sum(map(bool, problems.values()))
    return {"count": len(paths), "wrong": wrong, "refused": refused, "playable": len(paths) - refused}


def _spoiled(rng: random.Random, valid: list[dict[str, Any]], folder: Path, count: int) -> Iterator[tuple[Path, str]]:
    for number in range(count):
        name, data = spoil(rng, rng.choice(valid))
        path = folder / f"{number:04d}.json"
        path.write_bytes(data)
        yield path, name


def _file_problems(rng: random.Random, path: Path, problems: list[str]) -> Iterator[str]:
    for line in problems:
        if bad := unprintable(line):
            yield f"a problem holds U+{ord(bad):04X}"
        if len(line) > 1000:
            yield f"a problem has {len(line)} characters"
    if problems:
        return
    spec = TaskSpecification.from_json(path, warnings=[])
    for tiling in TILINGS.values():
        episode = Episode(Layout(spec, tiling))
        for _ in range(_STEPS):
            if episode.over:
                break
            episode.step(rng.randrange(7))
            episode.observe().text()


def _command_problems(problems: Mapping[Path, list[str]]) -> Iterator[str]:
    """What is wrong with the answer of ``multinet-run-eval validate``."""
    command = [sys.executable, "-m", "gridworld.evaluation.cli", "validate", *map(str, problems)]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, check=False, timeout=_SECONDS)
    said = (done.stdout + done.stderr).decode()
    if done.returncode != (2 if any(problems.values()) else 0):
        yield f"the command ended with {done.returncode}: {said[-300:]!r}"
    if "Traceback" in said:
        yield f"the command shows a traceback: {said[-300:]!r}"
    if bad := unprintable(said.replace("\n", "")):
        yield f"the command prints U+{ord(bad):04X}"
    for path, lines in problems.items():
        if lines and path.name not in said:
            yield f"the command does not name {path.name}"


def walks(seed: int, first: int, count: int) -> Figures:
    """Random walks of 20 for each task, half of them generated: all simulators agree."""
    done = run(count, 20, seed=seed * 1_000_000 + first)
    return {
        "count": done.walks,
        "wrong": done.differences,
        "tasks": done.tasks,
        "steps": done.steps,
        "events": sorted(done.events),
    }


def search(seed: int, first: int, count: int) -> Figures:
    """Random tasks on both tilings: lengths and bounds of the exact search against all states of the task."""
    wrong, checked = list[str](), 0
    begin = seed * 1_000_000 + first
    for number in range(begin, begin + count, len(TILINGS)):
        try:
            checked += check_random_tasks(range(number, min(number + len(TILINGS), begin + count)))
        except AssertionError as error:
            wrong.append(f"search: {str(error).splitlines()[0]}")
    return {"count": count, "wrong": wrong, "small enough": checked}


def loose(seed: int, first: int, count: int) -> Figures:
    """Families with things that can be put down anywhere, in turn, solved within the limit by what is found."""
    wrong, undecided, slow = list[str](), 0, 0
    for number in range(first, first + count):
        kind = FAMILIES[number % len(FAMILIES)]
        spec = _family(seed * 1_000_000 + number, kind)
        began = time.process_time()
        try:
            solution = solve(spec)
        except SearchLimitError as error:
            undecided += 1
            if kind not in HARDEST:
                wrong.append(f"loose: {error}")
            continue
        slow += time.process_time() - began > _SECONDS_OF_CPU
        episode = Episode(Layout(spec))
        for action in solution.actions:
            episode.step(action)
        if not episode.goal_reached:
            wrong.append(f"loose: {spec.task_id} is not solved by its solution")
    return {"count": count, "wrong": wrong, "undecided": undecided, "over 10 s of CPU": slow}


Kind: TypeAlias = tuple[int, int, int, bool] | int
"""Keys, width, height and whether the doors are in a row; or how many of three blocks in an open room have a target."""

SIZES: Final = ((3, 25, 25), (4, 22, 7), (5, 22, 7), (4, 25, 25), (5, 25, 25))
HARDEST: Final[tuple[Kind, ...]] = tuple((*size, False) for size in SIZES[2:])
"""Some are beyond the limit."""

FAMILIES: Final[tuple[Kind, ...]] = (*((*size, in_row) for size in SIZES for in_row in (True, False)), 0, 1, 2, 3)


def _family(seed: int, kind: Kind) -> TaskSpecification:
    if isinstance(kind, int):
        return blocks_in_the_open(seed, 3, 14, kind)
    count, width, height, in_row = kind
    return keys_and_doors(seed, count, width, height, consumption=bool(seed % 3), in_row=in_row)


GATES: Mapping[str, Gate] = {gate.__name__: gate for gate in (tasks, files, walks, search, loose)}
"""Gates by name."""
