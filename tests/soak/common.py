"""What the long gates share: the real command in a subprocess, a curriculum cut to size, their command lines, figures
kept in the docs."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SCRATCH = ROOT / "runs" / "soak"
EVIDENCE = ROOT / "docs" / "evidence.md"


def command(*arguments: str) -> list[str]:
    """``python main.py ...`` with this interpreter."""
    return [sys.executable, str(ROOT / "main.py"), *arguments]


def environment() -> dict[str, str]:
    """The environment without API keys, so that the embedded model is used whatever ``.env`` says."""
    kept = {k: v for k, v in os.environ.items() if "API_KEY" not in k and not k.startswith("SPCA_")}
    return kept | {"PYTHON_DOTENV_DISABLED": "1"}


def run(*arguments: str, **environ: str) -> None:
    """Run the command to its end, with more variables in its environment.

    Raises:
        CalledProcessError: it did not exit with 0.
    """
    subprocess.run(command(*arguments), check=True, env=environment() | environ, stdout=subprocess.DEVNULL)


def only_run(runs: Path) -> Path | None:
    """The single run folder below ``runs``, None before there is one."""
    found = sorted(path.parent for path in runs.glob("*/run.json"))
    return found[-1] if found else None


def existing_run(runs: Path) -> Path:
    """The single run folder below ``runs``.

    Raises:
        FileNotFoundError: there is none.
    """
    found = only_run(runs)
    if found is None:
        raise FileNotFoundError(f"no run below {runs}")
    return found


def begin_or_resume(runs: Path, *new: str) -> subprocess.Popen[bytes]:
    """The command as a process that goes on with the run below ``runs``, or begins one there with the flags ``new``."""
    begun = only_run(runs)
    line = command("--quiet", *(("--resume", begun.name) if begun else new), "--runs", str(runs))
    return subprocess.Popen(line, env=environment(), stdout=subprocess.DEVNULL)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def cut_curriculum(target: Path, categories: Sequence[str] | int) -> Path:
    """The curriculum with only the named categories, or its first few, written to ``target``."""
    whole = read(ROOT / "merged_curriculum2.json")
    kept = whole[:categories] if isinstance(categories, int) else [c for c in whole if c["category_name"] in categories]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(kept), encoding="utf-8")
    return target


def gate_parser(name: str, description: str | None) -> argparse.ArgumentParser:
    """The command line of ``scripts/soak NAME``, with ``--record``."""
    parser = argparse.ArgumentParser(prog=f"scripts/soak {name}", description=description)
    parser.add_argument("--record", action="store_true", help="keep the figures in docs/evidence.md")
    return parser


def resumable(main: Callable[[], int]) -> int:
    """The exit code of ``main``, whose command goes on where it was interrupted; 130 and a line when it is."""
    try:
        return main()
    except KeyboardInterrupt:
        print("\ninterrupted; the same command goes on", file=sys.stderr)
        return 130


def conclude(name: str, title: str, flags: str, text: str, wrong: Sequence[str], *, is_recorded: bool) -> int:
    """Show the figures and what was wrong, :func:`record` them if wanted; the exit code, 1 when something was."""
    print("\n".join([text, *wrong[:100], f"{len(wrong)} wrong"]))
    if is_recorded:
        record(name, title, flags, text, *wrong[:20])
    return 1 if wrong else 0


def record(name: str, title: str, flags: str, *paragraphs: str, note: str = "", part: str = "") -> None:
    """Replace the section ``name`` of docs/evidence.md: the command with its flags, behind it ``note``; the figures.

    Args:
        part: of a gate that has several sections.
    """
    shown = f"`scripts/soak {' '.join(filter(None, (name, flags, '--record')))}`{note}"
    section_name = f"{name} {part}".strip()
    begin, end = f"<!-- {section_name} -->", f"<!-- /{section_name} -->"
    section = "\n".join([begin, "\n\n".join([f"## {title}", shown, *paragraphs]).strip(), end])
    page = EVIDENCE.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    page = pattern.sub(lambda _: section, page) if pattern.search(page) else f"{page.rstrip()}\n\n{section}\n"
    EVIDENCE.write_text(page, encoding="utf-8")
