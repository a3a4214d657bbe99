"""Files that others wrote: what is not a regular file is never waited for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gridworld.errors import EvaluationError
from gridworld.evaluation.metrics import BenchmarkEvaluationResult
from gridworld.runner.episode_result import EpisodeResult


@pytest.mark.parametrize("read", [BenchmarkEvaluationResult.load, EpisodeResult.load])
def test_a_pipe_or_a_device_is_refused(tmp_path: Path, read: object) -> None:
    assert callable(read)
    os.mkfifo(tmp_path / "pipe.json")
    for name in (tmp_path / "pipe.json", Path("/dev/zero")):
        with pytest.raises(EvaluationError, match=f"{name}: cannot be read: it is a pipe or a device, not a file"):
            read(name)
    with pytest.raises(EvaluationError, match="cannot be read: Is a directory"):
        read(tmp_path)
    (tmp_path / "other.json").write_text(json.dumps([]))
    with pytest.raises(EvaluationError, match="is not a"):
        read(tmp_path / "other.json")
