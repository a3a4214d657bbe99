"""Two commits behave the same: what runs leave is equal, byte for byte.

``scripts/soak same --against COMMIT [--only PART,...]``: this checkout as it is and a clone of COMMIT, with an
environment of its own, each play the curriculum on seeds 1, 2 and 3 (parts ``seed-1``, ``seed-2``, ``seed-3``), the
recorded run ``examples/curriculum`` (``recorded``: it breaks at any changed prompt) and an erring planner (``faulty``).

Agents, PDDL, trajectories, prompts, transcripts, ledgers, summaries and events have to be equal but for what differs
from run to run: ids, times, paths, versions, the commit and the hash of the product. ``run.json`` may have new keys.
Templates may be written otherwise as long as they render the same. So their sources (``prompt_log.md`` and its hash)
are left out: the transcripts hold every rendering.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from spca.runs.recording.finished import JOURNAL
from spca.runs.recording.folder import STATE
from tests.soak.common import ROOT, SCRATCH, environment, existing_run

HOME: Final = SCRATCH / "same"
CHECKOUTS: Final = HOME / "checkouts"
RECORDING: Final = HOME / "recording" / "curriculum"
"""A copy of ``examples/curriculum``: the name of a model is part of the names of transcripts."""

LOCK: Final = "requirements.txt"

_RECORDED: Final = f"replay/{RECORDING}"
PARTS: Final[Mapping[str, str]] = {
    "seed-1": "--seed 1",
    "seed-2": "--seed 2",
    "seed-3": "--seed 3",
    "recorded": f"--planner-model {_RECORDED} --planner-small-model {_RECORDED} --coder-model {_RECORDED}",
    "faulty": "--planner-model faulty/planner --planner-small-model faulty/planner --coder-model reference/coder"
    " --only goal_navigation,pickup_only,open_door,memory_ordering",
}
"""Flags of each run.

The faulty coder, which a faulty planner brings along by default, has no part: where its endless code is stopped differs
from run to run.
"""

TIMES: Final = frozenset({"time", "started", "seconds", "solve_s", "elapsed_min", "durations", "latency_s"})
OF_THE_COMMIT: Final = frozenset({"git_commit", "git_dirty", "git_diff", "versions", "product", "prompts"})
"""Keys of JSON whose values differ from run to run, and from commit to commit."""

TEMPLATES: Final = "prompt_log.md"
"""File of a run with the sources of its templates."""

_MAX_SHOWN: Final = 20


@dataclass(frozen=True, slots=True)
class Checkout:
    """A folder with the product, and the Python that runs it."""

    name: str
    root: Path
    python: str

    def play(self, part: str) -> Path:
        """Return the folder of a finished run of a part; one of the same flags and recording is kept."""
        home = HOME / self.name / part
        done = home / "done"
        played = f"{PARTS[part]}\n{(RECORDING / 'about.json').read_text(encoding='utf-8')}"
        if not done.exists() or done.read_text(encoding="utf-8") != played:
            shutil.rmtree(home, ignore_errors=True)
            where = ("--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
            line = [self.python, str(self.root / "main.py"), "--quiet", *PARTS[part].split(), *where]
            subprocess.run(line, cwd=self.root, check=True, env=environment(), stdout=subprocess.DEVNULL)
            done.write_text(played, encoding="utf-8")
        return existing_run(home / "runs")


def check_out(commit: str) -> Checkout:
    """Clone a commit of this repository, and set its environment up by its own script.

    Raises:
        CalledProcessError: there is no such commit, or its environment cannot be set up.
    """
    digest = subprocess.check_output(["git", "rev-parse", f"{commit}^{{commit}}"], cwd=ROOT, text=True).strip()
    root = CHECKOUTS / digest[:12]
    if not root.exists():
        subprocess.run(["git", "clone", "--quiet", str(ROOT), str(root)], check=True)
        subprocess.run(["git", "checkout", "--quiet", digest], cwd=root, check=True)
    set_up = f'root=$PWD; . scripts/venv.sh; prepare "{LOCK}"'
    subprocess.run(["sh", "-c", set_up], cwd=root, check=True, env=environment())
    return Checkout(digest[:12], root, str(root / ".venv" / "bin" / "python"))


def compare(before: Path, after: Path) -> Iterator[str]:
    """Yield a line for each file of two runs that differs."""
    files = [{_name(path, run): path for path in run.rglob("*") if path.is_file()} for run in (before, after)]
    old, new = files
    for names in files:
        names.pop(JOURNAL, None)  # it is compared with the state file
        names.pop(TEMPLATES, None)
    yield from (f"{name}: only before" for name in sorted(old.keys() - new.keys()))
    yield from (f"{name}: only now" for name in sorted(new.keys() - old.keys()))
    for name in sorted(old.keys() & new.keys()):
        left = _readable(old[name], before)
        right = _readable(new[name], after)
        if name == "run.json":
            right = _known_keys(left, right)
        if left != right:
            yield f"{name}: {_describe_difference(left, right)}"


def _name(path: Path, run: Path) -> str:
    return str(path.relative_to(run)).replace(run.name, "RUN")


def _readable(path: Path, run: Path) -> Any:
    """Return what a file says, without what differs from run to run; JSON as values, other files as lines."""
    text = path.read_bytes().decode("utf-8", "surrogateescape").replace(run.name, "RUN")
    text = re.sub(rf"{re.escape(str(CHECKOUTS))}/[^/\"\s]+", "ROOT", text)
    text = re.sub(rf"{re.escape(str(HOME))}/[^/\"\s]+/", "HOME/", text)
    text = text.replace(str(ROOT), "ROOT")
    if path == run / STATE:
        return _timeless(_whole_state(json.loads(text), run))
    if path.suffix == ".json":
        return _timeless(json.loads(text))
    if path.suffix == ".jsonl":
        return [_timeless(json.loads(line)) for line in text.splitlines()]
    return text.splitlines()


def _whole_state(state: dict[str, Any], run: Path) -> dict[str, Any]:
    """Return a state with the summaries of the journal, which commits before the journal wrote into the state."""
    if "finished" in state:
        return state
    lines = (run / JOURNAL).read_text(encoding="utf-8").replace(run.name, "RUN").splitlines()
    summaries = [json.loads(line)["summary"] for line in lines[: state.pop("levels")]]
    return state | {"finished": summaries}


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(each) for key, each in value.items() if key not in TIMES | OF_THE_COMMIT}
    if isinstance(value, list):
        return [_timeless(each) for each in value]
    return value


def _known_keys(before: Any, after: Any) -> Any:
    """Return ``after`` without the keys that ``before`` lacks."""
    if isinstance(before, dict) and isinstance(after, dict):
        return {key: _known_keys(before[key], each) for key, each in after.items() if key in before}
    return after


def _describe_difference(before: Any, after: Any, where: str = "") -> str:
    """Return the first place where two values differ, with both."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            if before.get(key, ...) != after.get(key, ...):
                return _describe_difference(before.get(key, "nothing"), after.get(key, "nothing"), f"{where}.{key}")
    if isinstance(before, list) and isinstance(after, list):
        for number, (left, right) in enumerate(zip(before, after, strict=False), 1):
            if left != right:
                return _describe_difference(left, right, f"{where}[{number}]")
        return f"{where} has {len(before)} entries, now {len(after)}"
    return f"{where} {before!r:.100} is now {after!r:.100}"


def main() -> int:
    """Run the gate; 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="scripts/soak same", description=__doc__)
    parser.add_argument("--against", required=True, metavar="COMMIT", help="the commit to compare this checkout with")
    parser.add_argument("--only", default=",".join(PARTS), metavar="PART,...", help="parts to play (default: all)")
    options = parser.parse_args()
    parts = options.only.split(",")
    if unknown := set(parts) - PARTS.keys():
        parser.error(f"no part {', '.join(sorted(unknown))}; there are: {', '.join(PARTS)}")

    here = Checkout("here", ROOT, sys.executable)
    shutil.rmtree(HOME / here.name, ignore_errors=True)
    shutil.copytree(ROOT / "examples" / "curriculum", RECORDING, dirs_exist_ok=True)
    try:
        other = check_out(options.against)
    except subprocess.CalledProcessError as error:
        parser.error(f"{options.against} cannot be set up: {error}")
    wrong = 0
    for part in parts:
        found = list(compare(other.play(part), here.play(part)))
        wrong += len(found)
        print(f"{part}: {len(found)} files differ" if found else f"{part}: the same", flush=True)
        for line in found[:_MAX_SHOWN]:
            print(f"  {line}")
        if len(found) > _MAX_SHOWN:
            print(f"  and {len(found) - _MAX_SHOWN} more")
    print(f"{wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
