"""The attacks of ``tests/redteam`` against the wall, with short patience; ``scripts/soak redteam`` has the rest.

Each attack meets the wall itself (layer 1 is left out), is shown to work where there is no wall, and meets the gate.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.sandbox.limits import Limits
from tests.redteam import killed
from tests.redteam.attack import Attack, Kind, Sign, agent_source
from tests.redteam.bait import Bait
from tests.redteam.bypasses import BYPASSES
from tests.redteam.given import GIVEN
from tests.redteam.harness import UnwalledHost, WalledHost
from tests.redteam.judging import MUST_BE_REFUSED, refusals
from tests.redteam.own import OWN
from tests.redteam.processes import children
from tests.sandboxing import unmeasured

ROOT = Path(__file__).parents[3]
SOON = 0.3
"""Seconds that an attack gets which is only there to use them up."""

TOO_SLOW = {"slow_yields", "million_contexts", "memory_by_generators"}
PATIENT = {Kind.LEAK, Kind.MEM, Kind.CRASH, Kind.CALL, Kind.STATE, Kind.NEST}


def _waits(attack: Attack) -> bool:
    return Sign.STAYED in attack.control.signs


ATTACKS = [attack for attack in (*GIVEN, *OWN) if attack.name not in TOO_SLOW]
DOCUMENTED = re.findall(r"W\[(\w+)\]", (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8"))
OTHERS = [a for a in ATTACKS if a not in GIVEN and a.name not in DOCUMENTED]
CHOSEN = [a for a in ATTACKS if a not in OTHERS] + OTHERS[::8]
SHOWN = [a for a in CHOSEN if a.kind is not Kind.NEST and (a in GIVEN or a in OTHERS)]


def _named(attack: Attack) -> str:
    return attack.name


@pytest.fixture(scope="module")
def patient() -> Iterator[WalledHost]:
    with WalledHost() as host:
        yield host


@pytest.fixture(scope="module")
def impatient() -> Iterator[WalledHost]:
    with WalledHost(Limits(first_yield_seconds=SOON, yield_seconds=SOON)) as host:
        yield host


@pytest.fixture(scope="module")
def unwalled() -> Iterator[UnwalledHost]:
    with UnwalledHost() as host:
        yield host


@pytest.mark.parametrize("attack", CHOSEN, ids=_named)
def test_the_wall_holds(attack: Attack, patient: WalledHost, impatient: WalledHost) -> None:
    host = patient if attack.kind in PATIENT and not _waits(attack) else impatient
    assert host.judge(attack).escaped == ()


@pytest.mark.parametrize("attack", SHOWN, ids=_named)
def test_without_the_wall_it_does_what_it_is_meant_to(attack: Attack, unwalled: UnwalledHost) -> None:
    if attack.control.root and os.geteuid() != 0:
        pytest.skip("only root can do this, wall or not")
    assert unwalled.signs(attack, SOON)


def test_the_gate_refuses_what_plainly_reaches_out() -> None:
    with Bait() as bait:
        sources = {a.name: bait.fill(a.source).replace("@HPID@", "1") for a in ATTACKS if a.kind in MUST_BE_REFUSED}
    assert [name for name, source in sources.items() if not refusals(source)] == []


@pytest.mark.parametrize("statements", BYPASSES)
def test_the_gate_refuses_what_reaches_out_by_a_detour(statements: str) -> None:
    found = refusals(agent_source(statements))
    assert found
    assert "syntax error" not in found[0]


@pytest.mark.parametrize("attack", [a for a in OWN if a.kind is Kind.NEST], ids=_named)
def test_the_gate_does_not_stall(attack: Attack) -> None:
    began = time.process_time()
    refusals(attack.source)
    assert time.process_time() - began < 4  # seconds or minutes without the limits on what is compiled


def test_killed_episodes_leave_nothing_behind() -> None:
    with WalledHost(killed.LIMITS) as host:
        report = host.kills(list(killed.sources(60)), 60)
    assert report["unlike"] == []
    assert report["benign"] == ""
    assert not any(Path(f"/proc/{pid}").exists() for pid in report["zygotes"])


def test_a_host_that_is_killed_takes_everything_with_it() -> None:
    with WalledHost() as host:
        pid = host.process.pid
        (zygote,) = children(pid)
        host.send(_endless())
        worker = host.receive(time.monotonic() + 10)["pid"]
        os.kill(pid, signal.SIGKILL)
        assert _gone({zygote, worker}, 3.0)


def test_a_zygote_that_is_killed_takes_its_worker_with_it() -> None:
    with WalledHost() as host:
        (zygote,) = children(host.process.pid)
        host.send(_endless())
        worker = host.receive(time.monotonic() + 10)["pid"]
        os.kill(zygote, signal.SIGKILL)
        assert _gone({worker}, 3.0)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_wall_holds_for_an_unprivileged_host_too() -> None:
    names = "open_secret,os_environ,fork_bomb_small,kill_parent,libc_connect,forge_two_answers,call_prlimit_own,os_exit"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.redteam.unprivileged"),
            *(sys.executable, "-m", "tests.soak.redteam", "--once", "--count=10", f"--only={names}"),
        ],
        cwd=ROOT,
        env=unmeasured(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert '"user": 65534, "attacks": 8, "escapes": 0' in done.stdout


def _endless() -> dict[str, object]:
    source = agent_source("while True: pass")
    return {"source": source, "earlier": "", "key": "", "goal": "", "tail": "", "limit": 9}


def _gone(pids: set[int], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while any(Path(f"/proc/{pid}").exists() for pid in pids):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True
