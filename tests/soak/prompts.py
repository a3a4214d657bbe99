"""48 prompts for models and people to answer, and a judge that carries out the answers.

``scripts/soak prompts write DIR`` renders 24 prompts of the curriculum and 24 in which the obvious answer is wrong, as
they are in this checkout, to ``DIR/NN-KIND-MODE.prompt.md``. ``scripts/soak prompts judge DIR`` reads
``DIR/NN-KIND-MODE.answer.md`` beside them, plays each level up to that request again, gives the answer and goes on: an
answer is right when the world says that its level is solved. The table is also written to ``DIR/verdicts.json``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from spca.llm.providers.base import Message
from tests.soak.common import resumable
from tests.support.prompts import adversarial, today
from tests.support.prompts.stage import Case, judge, prompt

CASES: Final = (*today.CASES, *adversarial.CASES)
NAMES: Final = tuple(f"{number:02d}-{case.kind}-{case.mode}" for number, case in enumerate(CASES, 1))
"""Names of files; those of the cases would tell what is wrong with the obvious answer."""
HOW: Final = (
    "Write the assistant's next message to the file {name}.answer.md in this folder: its text alone, nothing around it."
)


def text(messages: Sequence[Message], name: str) -> str:
    """A conversation as a page that ends with where its answer goes."""
    parts = [f"===== {message.role} =====\n\n{message.text}" for message in messages]
    return "\n\n".join([*parts, f"===== end of the conversation =====\n\n{HOW.format(name=name)}\n"])


def write(folder: Path) -> None:
    """Render every prompt."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, case in zip(NAMES, CASES, strict=True):
        (folder / f"{name}.prompt.md").write_text(text(prompt(case), name), encoding="utf-8")


def judged(folder: Path) -> list[dict[str, str]]:
    """What became of each answer that is there."""
    return [_row(folder / f"{name}.answer.md", case) for name, case in zip(NAMES, CASES, strict=True)]


def _row(path: Path, case: Case) -> dict[str, str]:
    part = "today" if case in today.CASES else "adversarial"
    row = {"file": path.name.removesuffix(".answer.md"), "case": case.name, "part": part}
    if not path.exists():
        return row | {"result": "not answered", "why": ""}
    verdict = judge(case, path.read_text(encoding="utf-8"))
    return row | {"result": verdict.result, "why": verdict.why}


def table(rows: Sequence[dict[str, str]]) -> str:
    """The verdicts, a line each, and how many of each there are."""
    lines = [f"{r['file']:<20} {r['case']:<25} {r['result']:<12} {_short(r['why'])}".rstrip() for r in rows]
    for part in ("today", "adversarial"):
        counts = Counter(row["result"] for row in rows if row["part"] == part)
        lines.append(f"{part}: {', '.join(f'{count} {result}' for result, count in counts.most_common())}")
    return "\n".join(lines)


def _short(why: str) -> str:
    return " ".join(why.split())[:160]


def main() -> int:
    """Write the prompts, or judge the answers; 0, whatever the answers are worth."""
    parser = argparse.ArgumentParser(prog="scripts/soak prompts", description=__doc__)
    parser.add_argument("step", choices=("write", "judge"))
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.step == "write":
        write(options.folder)
        print(f"{len(CASES)} prompts in {options.folder}")
        return 0
    rows = judged(options.folder)
    (options.folder / "verdicts.json").write_text(json.dumps(rows, indent=1, ensure_ascii=False), encoding="utf-8")
    print(table(rows))
    return 0


if __name__ == "__main__":
    sys.exit(resumable(main))
