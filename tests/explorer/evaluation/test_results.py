"""Results: written, read again, torn, wrong."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from explorer.errors import EpisodeError
from explorer.evaluation.results import Episode, append_episode, read_episodes, write_episodes

NAMES = st.text(max_size=8)
COUNTS = st.integers(0, 10**9)


@st.composite
def episodes(draw: st.DrawFn) -> Episode:
    latched = draw(st.dictionaries(NAMES, COUNTS, max_size=6))
    hops = max(1, len(latched)) + draw(st.integers(0, 1))
    values: dict[str, Any] = {
        **{name: draw(COUNTS) for name in ("steps", "restores", "calls", "tokens", "seed")},
        **{name: draw(NAMES) for name in ("scene", "model", "state_hash", "ended", "error", "source")},
        "hops": hops,
        "latched": latched,
        "solved": len(latched) == hops,
        "cost": draw(st.floats(0, 1e6)),
        "codes": tuple(draw(st.lists(st.integers(0, 2**16 - 1), max_size=9))),
        "out_of_order": tuple(draw(st.lists(st.tuples(NAMES, NAMES), max_size=3))),
        "certificate_refuted": draw(st.booleans()),
    }
    return Episode(**values)


@given(episodes())
def test_an_episode_is_read_as_it_was_written(episode: Episode) -> None:
    assert Episode.from_dict(json.loads(json.dumps(episode.to_dict()))) == episode


def test_the_fields_of_the_contract_come_first() -> None:
    assert " ".join(list(Episode("s", 2, "m").to_dict())[:14]) == (
        "scene hops model latched solved steps restores calls tokens cost codes out_of_order certificate_refuted"
        " state_hash"
    )


ONE = Episode("one", 1, "human", {"goal": 3}, solved=True, steps=3, codes=(1, 2, 3))


def test_a_person_adds_episodes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "new" / "human.jsonl"
    append_episode(path, ONE)
    path.write_bytes(path.read_bytes() + b'{"scene": "tor')
    assert read_episodes(path) == [ONE]
    append_episode(path, ONE)
    assert read_episodes(path) == [ONE, ONE]
    write_episodes(path, [ONE])
    assert read_episodes(path) == [ONE]
    path.write_bytes(path.read_bytes().rstrip())
    assert read_episodes(path) == [ONE], "an editor left out the last line feed"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hops": None}, "hops is None, not a whole number"),
        ({"hops": True}, "hops is True, not a whole number"),
        ({"hops": 0}, "solved is"),
        ({"hops": 10**9}, "solved is"),
        ({"solved": False}, "solved is"),
        ({"solved": 1}, "solved is 1, not a yes or no"),
        ({"scene": 3}, "scene is 3, not a text"),
        ({"error": None}, "error is None, not a text"),
        ({"certificate_refuted": "no"}, "certificate_refuted is 'no', not"),
        ({"latched": {"goal": 2.5}}, "a step of latched is 2.5, not a whole"),
        ({"cost": float("nan")}, "cost is nan, not an amount"),
        ({"cost": -1}, "cost is -1.0, not an amount"),
        ({"codes": 3}, "codes is 3, not a text"),
        ({"latched": {"a": 1, "b": 2}}, "solved is"),
        ({"latched": 3}, "not iterable"),
        ({"steps": -1}, "steps is -1"),
        ({"cost": "x"}, "could not convert"),
        ({"codes": "x"}, "codes: it is not base64"),
        ({"out_of_order": [["a"]]}, "not enough values"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    path = tmp_path / "r.jsonl"
    write_episodes(path, [ONE])
    with path.open("a") as file:
        file.write(json.dumps({**ONE.to_dict(), **change}) + "\n")
    with pytest.raises(EpisodeError, match=rf"r\.jsonl: line 2: .*{words}") as caught:
        read_episodes(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("line", [b"[1]", b"3", b"\xff", b"[" * 20000, b'{"scene": "x"}', b"{"])
def test_what_is_no_episode_is_named(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "r.jsonl"
    path.write_bytes(line + b"\n")
    with pytest.raises(EpisodeError, match="line 1: "):
        read_episodes(path)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for use in (read_episodes, lambda path: append_episode(path, ONE), lambda path: write_episodes(path, [ONE])):
        with pytest.raises(EpisodeError, match="file/r"):
            use(tmp_path / "file" / "r")
    assert read_episodes(tmp_path / "file") == []
