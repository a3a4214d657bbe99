"""Evaluations by Ray equal those of one process, an actor that dies included.

``scripts/soak gridworld-ray``: needs the extra ``ray``.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

from tests.gridworld.evaluation.test_cli import DIRECTORY, contents
from tests.support.gridworld.players import corridors, main


def play(folder: Path, name: str, *more: str) -> str:
    """A results file without its times."""
    output = folder / f"{name}.json"
    if main([*DIRECTORY, "--task-dir", str(folder / "tasks"), "--output", str(output), *more]) != 0:
        raise RuntimeError(f"{name}: the evaluation failed")
    return contents(output).replace(f'"{folder / "died"}"', "null")


def soak() -> int:
    """Run the gate; 1 when a file differs."""
    parser = argparse.ArgumentParser(prog="scripts/soak gridworld-ray", description=__doc__)
    parser.add_argument("--count", type=int, default=1)
    differing = 0
    for _ in range(parser.parse_args().count):
        folder = Path(tempfile.mkdtemp())
        corridors(folder / "tasks")
        alone = play(folder, "alone")
        ray = play(folder, "ray", "--executor", "ray", "--workers", "2")
        died = play(
            folder, "died", "--executor", "ray", "--workers", "2", "--die-at", "4", "--once", str(folder / "died")
        )
        differing += (alone != ray) + (alone != died) + (not (folder / "died").exists())
        shutil.rmtree(folder)
    print(f"different from one process: {differing}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(soak())
