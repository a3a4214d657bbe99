"""The fuzzer finds faults, keeps what made them, and sees when its inputs do not get anywhere."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from spca.errors import PatchError
from tests.soak import fuzz
from tests.soak.fuzz import Slice, done, read, replay, slices, table
from tests.soak.fuzz_targets import TARGETS, Target


def _brittle(given: bytes) -> bool:
    if given[0] % 7 == 0:
        raise ZeroDivisionError("oops\nagain")
    if given[0] % 2:
        raise PatchError(f"line {given[0]}: no 'x'")
    return True


def _slow(given: bytes) -> bool:
    end = time.process_time() + 0.02
    while time.process_time() < end:
        pass
    return bool(given)


@pytest.fixture
def targets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Target]:
    draw = lambda rng: bytes([rng.randrange(256)])  # noqa: E731
    made = {"brittle": Target(1, draw, _brittle, (PatchError,)), "slow": Target(1, draw, _slow)}
    made["blocked"] = Target(1, draw, lambda given: bool(given.index(b"xx")), (ValueError,))
    monkeypatch.setattr(fuzz, "TARGETS", made)
    monkeypatch.setattr(fuzz, "FOUND", tmp_path / "found")
    return made


def test_what_goes_wrong_is_kept_and_can_be_read_again(
    targets: dict[str, Target], capsys: pytest.CaptureFixture[str]
) -> None:
    figures = done(Slice("brittle", 1, 0, 300))
    assert figures["count"] == 300
    assert figures["refusals"] == ["PatchError: line _: no _"]
    assert 0 < len(figures["wrong"]) < 100
    assert figures["taken"] > 50
    kept = sorted(fuzz.FOUND.iterdir())
    assert len(kept) == len(figures["wrong"])
    assert figures["wrong"][0].startswith("brittle: ZeroDivisionError: oops again (test_fuzz.py:")
    with pytest.raises(ZeroDivisionError):
        replay(kept[0])
    assert "oops" in capsys.readouterr().out
    number = int(kept[0].stem.split("-")[2])
    assert kept[0].read_bytes() == targets["brittle"].draw(random.Random(f"1/brittle/{number}"))


def test_an_input_that_takes_too_long_is_wrong(targets: dict[str, Target], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz, "MOST_S", 0.001)
    assert read(targets["slow"], b"x").wrong == "0.0 s of CPU time"


def test_inputs_that_do_not_get_anywhere_are_wrong(targets: dict[str, Target]) -> None:
    work = [Slice(name, 1, 0, 200) for name in ("blocked", "brittle")]
    text, wrong = table(work, {piece: done(piece) for piece in work})
    assert "blocked: nothing was taken: the inputs do not get past the first check" in wrong
    assert text.count("\n") == 3
    assert targets


def test_the_count_is_shared_among_all_targets() -> None:
    assert sum(target.share for target in TARGETS.values()) == pytest.approx(1)
    work = list(slices(TARGETS, 1, 3000))
    assert {piece.target for piece in work} == TARGETS.keys()
    assert sum(piece.size for piece in work) == 3000


@pytest.mark.parametrize("name", sorted(TARGETS))
def test_every_target_reads_what_it_draws(name: str) -> None:
    figures = done(Slice(name, 2, 0, 40))
    assert figures["wrong"] == []
    assert figures["taken"] > 0
