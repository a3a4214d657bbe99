"""What the long gates share: the real command in a subprocess, a curriculum cut to size, figures kept in the docs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
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


def run(*arguments: str) -> None:
    """Run the command to its end.

    Raises:
        CalledProcessError: it did not exit with 0.
    """
    subprocess.run(command(*arguments), check=True, env=environment(), stdout=subprocess.DEVNULL)


def only_run(runs: Path) -> Path | None:
    """The single run folder below ``runs``, None before there is one."""
    found = sorted(path.parent for path in runs.glob("*/run.json"))
    return found[-1] if found else None


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def cut_curriculum(target: Path, categories: Sequence[str] | int) -> Path:
    """The curriculum with only the named categories, or its first few, written to ``target``."""
    whole = read(ROOT / "merged_curriculum2.json")
    kept = whole[:categories] if isinstance(categories, int) else [c for c in whole if c["category_name"] in categories]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(kept), encoding="utf-8")
    return target


def record(name: str, text: str) -> None:
    """Replace the section ``name`` of docs/evidence.md."""
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    section = f"{begin}\n{text.strip()}\n{end}"
    page = EVIDENCE.read_text(encoding="utf-8")
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    page = pattern.sub(lambda _: section, page) if pattern.search(page) else f"{page.rstrip()}\n\n{section}\n"
    EVIDENCE.write_text(page, encoding="utf-8")
