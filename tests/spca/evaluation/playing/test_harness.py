"""Results of a finished evaluation, read again."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.common.encoding import json_text
from spca.errors import ResumeError
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.playing.harness import results
from tests.support.report.evaluated import RESULTS, evaluated


def finished(runs: Path) -> EvaluationFolder:
    """An evaluation with its results."""
    folder = evaluated(runs)
    for name, lines in (("episodes", RESULTS.played), ("proofs", RESULTS.judged), ("bot", RESULTS.bot)):
        folder.write(f"{name}.jsonl", "".join(f"{json_text(line.to_dict())}\n" for line in lines))
    folder.finish(RESULTS.to_dict())
    return folder


def test_results_are_those_of_the_files(tmp_path: Path) -> None:
    assert results(finished(tmp_path)).to_dict() == RESULTS.to_dict()


@pytest.mark.parametrize("name", ["episodes.jsonl", "proofs.jsonl", "bot.jsonl"])
@pytest.mark.parametrize("lines", [slice(1, None), slice(0)])
def test_lines_that_are_not_those_of_the_summary_are_no_results(tmp_path: Path, name: str, lines: slice) -> None:
    folder = finished(tmp_path)
    path = folder.path / name
    path.write_text("".join(path.read_text(encoding="utf-8").splitlines(keepends=True)[lines]), encoding="utf-8")
    with pytest.raises(ResumeError, match=r"its lines are not those that summary\.json was made of"):
        results(folder)
