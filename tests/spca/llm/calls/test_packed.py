"""The calls of a run in one file."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.errors import ResumeError
from spca.llm.calls.packed import PACKED, pack, unpack
from spca.llm.calls.transcripts import read_all
from tests.support.spca.call_requests import Desk, transcripts
from tests.support.spca.doubles import ScriptedProvider


def recorded(folder: Path, *texts: str, model: str = "paid/model") -> list[dict[str, Any]]:
    desk = Desk(folder, model=model).level()
    for text in texts:
        desk.ask(ScriptedProvider(text), text)
    return [json.loads(path.read_text(encoding="utf-8")) for path in transcripts(folder)]


@pytest.mark.long
@given(st.lists(st.text(), min_size=1, max_size=4))
def test_every_call_comes_out_as_its_file_has_it(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("run")
    packed = folder / PACKED
    packed.write_bytes(pack(recorded(folder, *texts)))
    known = [(t.prompt_key, t.turn, t.answer, t.latency_s) for t in read_all(folder / "llm")]
    assert [(t.prompt_key, t.turn, t.answer, t.latency_s) for t in unpack(packed)] == known


def test_the_same_calls_are_the_same_bytes_whatever_run_they_are_of(tmp_path: Path) -> None:
    (call,) = recorded(tmp_path, "a")
    assert pack([call | {"run": "x", "request": 9}]) == pack([call])


@pytest.mark.parametrize("prefix", ["replay", "llamacpp"])
def test_where_files_lie_is_left_out(tmp_path: Path, prefix: str) -> None:
    data = lzma.decompress(pack(recorded(tmp_path, "a", model=f"{prefix}/{tmp_path}/model")))
    assert str(tmp_path) not in data.decode()
    assert json.loads(data)["model"] == f"{prefix}/model"


@pytest.mark.parametrize(
    "data",
    [b"", b"x", lzma.compress(b"{}\n"), lzma.compress(b"\xff\n"), lzma.compress(b"[" * 10**5 + b"\n"), pack([])[:-9]],
)
def test_what_cannot_be_read_is_told_with_its_name(tmp_path: Path, data: bytes) -> None:
    (tmp_path / PACKED).write_bytes(data)
    with pytest.raises(ResumeError, match=f"{PACKED} cannot be read: "):
        unpack(tmp_path / PACKED)
