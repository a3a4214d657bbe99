"""The BabyAI bot in its process: what it solves, what it cannot, what hangs, and that nothing is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from spca.evaluation.playing.babyai_bot import HUNG, KILLED, UNSUPPORTED, BotPeer, play
from tests.support.processes import Process
from tests.support.waiting import becomes

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize(
    ("env_id", "seed", "solved", "steps", "reason"),
    [
        ("BabyAI-GoToObj-v0", 1, True, 6, ""),
        ("BabyAI-UnlockToUnlock-v0", 4, False, 1, HUNG),
        ("BabyAI-PutNextS5N2Carrying-v0", 1, False, 3, "AssertionError: 0nothing left to explore"),
        ("BabyAI-KeyInBox-v0", 1, False, 0, "AssertionError"),
        ("MiniGrid-DoorKey-5x5-v0", 1, False, 0, UNSUPPORTED),
        ("BabyAI-NoSuchLevel-v0", 1, False, 0, "WorldError: BabyAI-NoSuchLevel-v0: NameNotFound"),
    ],
)
def test_an_episode_of_the_bot(env_id: str, seed: int, solved: bool, steps: int, reason: str) -> None:
    episode = play(env_id, seed, upstream_rules=False)
    assert (episode.solved, episode.steps) == (solved, steps)
    assert episode.reason.startswith(reason) if reason else not episode.reason


def test_the_bot_is_judged_by_the_same_corrections() -> None:
    assert play("BabyAI-OpenDoorsOrderN2Debug-v0", 1, upstream_rules=False).solved
    assert not play("BabyAI-OpenDoorsOrderN2Debug-v0", 1, upstream_rules=True).solved


@pytest.mark.long
def test_a_process_that_dies_is_started_again() -> None:
    with BotPeer() as peer:
        first = peer.play("BabyAI-GoToObj-v0", 1)
        (child,) = multiprocessing.active_children()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        assert peer.play("BabyAI-GoToObj-v0", 1).reason == KILLED
        assert peer.play("BabyAI-GoToObj-v0", 1) == first
    assert not multiprocessing.active_children()


def test_too_much_processor_time_ends_the_process() -> None:
    with BotPeer(cpu_limit=1e-3) as peer:
        assert peer.play("BabyAI-BossLevel-v0", 1).reason == KILLED
    assert not multiprocessing.active_children()


ABANDONED = """
import multiprocessing, time
from spca.evaluation.playing.babyai_bot import BotPeer
if __name__ == "__main__":
    with BotPeer() as peer:
        peer.play("MiniGrid-Empty-5x5-v0", 1)
        print(multiprocessing.active_children()[0].pid, flush=True)
        time.sleep(1000)
"""


def test_nothing_is_left_when_the_parent_is_killed(tmp_path: Path) -> None:
    program = tmp_path / "abandoned.py"
    program.write_text(ABANDONED)
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with Process([sys.executable, str(program)], stdout=subprocess.PIPE, env=environment) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
        assert becomes(lambda: not runs(child))


def runs(pid: int) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
