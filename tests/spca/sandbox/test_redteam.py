"""The attacks of ``tests/redteam`` against the sandbox, with short patience; ``scripts/soak redteam`` has the rest.

Each attack meets the sandbox itself (layer 1, the static policy, is left out), and is shown to work without one.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.sandbox.kernel.limits import Limits
from tests.redteam import killed
from tests.redteam.attack import Attack, Control, Kind, Sign, agent_source
from tests.redteam.bypasses import BYPASSES
from tests.redteam.given import GIVEN
from tests.redteam.harness import BareHost, SandboxedHost, WriterHost
from tests.redteam.judging import refusals
from tests.redteam.own import OWN
from tests.redteam.processes import children
from tests.redteam.unprivileged import NOBODY
from tests.support.spca.sandboxing import await_gone, unmeasured
from tests.support.tiers import few
from tests.support.waiting import AGES, PATIENCE

ROOT = Path(__file__).parents[3]
SOON = 0.3
"""Seconds that an attack gets which is only there to use them up."""

LATE = 7.0
"""Seconds that a busy machine may be late, where the soak test allows one; what is not ended in time goes on until it
has used up its processor time, of which it has ten seconds."""

ENDLESS = Limits(AGES, AGES, int(AGES), AGES)
"""Nothing is ended by a limit."""

TOO_SLOW = {"recursion_setlimit", "slow_yields", "million_contexts", "memory_by_generators"}
PATIENT = {Kind.LEAK, Kind.MEM, Kind.CRASH, Kind.CALL, Kind.STATE, Kind.NEST}


AS_NOBODY = """
import json, os, sys
from tests.redteam.given import GIVEN
from tests.redteam.harness import BareHost, SandboxedHost
from tests.redteam.killed import LIMITS, sources
from tests.redteam.own import OWN
late, soon, *names = sys.argv[1:]
chosen = [attack for attack in (*GIVEN, *OWN) if attack.name in names]
with SandboxedHost(slack=float(late)) as host:
    escaped = {attack.name: host.judge(attack).escaped for attack in chosen}
with BareHost() as host:
    unseen = [a.name for a in chosen if not (a.control.root or host.signs(a, float(soon)))]
with SandboxedHost(LIMITS) as host:
    killed = host.kills(list(sources(10)), 60)
print(json.dumps([os.getuid(), escaped, unseen, killed["unlike"], killed["benign"]]))
"""


def _waits(attack: Attack) -> bool:
    return Sign.STAYED in attack.control.signs


ATTACKS = [attack for attack in (*GIVEN, *OWN) if attack.name not in TOO_SLOW]
DOCUMENTED = re.findall(r"W\[(\w+)\]", (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8"))
QUICK = [a for a in ATTACKS if a.name in DOCUMENTED or not _waits(a)]
SHOWN = [attack for kind in Kind for attack in [a for a in QUICK if a.kind is kind][:2] if kind is not Kind.NEST]
"""Two of each kind."""
CHOSEN = [a for a in QUICK if a in SHOWN or a.name in DOCUMENTED]


def _named(attack: Attack) -> str:
    return attack.name


@pytest.fixture(scope="module")
def patient() -> Iterator[SandboxedHost]:
    with SandboxedHost(slack=LATE) as host:
        yield host


@pytest.fixture(scope="module")
def impatient() -> Iterator[SandboxedHost]:
    with SandboxedHost(Limits(first_yield_seconds=SOON, yield_seconds=SOON), LATE) as host:
        yield host


@pytest.fixture(scope="module")
def bare() -> Iterator[BareHost]:
    with BareHost() as host:
        yield host


@pytest.mark.parametrize("attack", few(24, CHOSEN), ids=_named)
def test_the_wall_holds(attack: Attack, patient: SandboxedHost, impatient: SandboxedHost) -> None:
    host = patient if attack.kind in PATIENT and not _waits(attack) else impatient
    assert host.judge(attack).escaped == ()


@pytest.fixture(scope="module")
def writing() -> Iterator[WriterHost]:
    with WriterHost(LATE) as host:
        yield host


@pytest.mark.parametrize("attack", few(8, [a for a in SHOWN if not _waits(a)]), ids=_named)
def test_the_wall_holds_for_problem_writers(attack: Attack, writing: WriterHost) -> None:
    assert writing.judge(attack).escaped == ()


def test_attacks_of_problem_writers_have_all_of_python(writing: WriterHost) -> None:
    """The proof that they have left their namespace: what they tell comes out."""
    source = agent_source("import os\nraise KeyError(f'LEAK STATE {len(os.listdir.__name__)} {os.getpid() > 0}')")
    verdict = writing.judge(Attack("told", Kind.STATE, source, Control(())))
    assert "LEAK STATE 7 True" in verdict.end
    assert verdict.escaped == ("told: LEAK STATE 7",)


@pytest.mark.parametrize("attack", few(8, SHOWN), ids=_named)
def test_without_the_wall_it_does_what_it_is_meant_to(attack: Attack, bare: BareHost) -> None:
    if attack.control.root and os.geteuid() != 0:
        pytest.skip("only root can do this, sandboxed or not")
    assert bare.signs(attack, SOON)


@pytest.mark.parametrize("statements", few(8, BYPASSES))
def test_the_sandbox_holds_what_takes_a_detour(statements: str, impatient: SandboxedHost) -> None:
    attack = Attack("detour", Kind.STATE, agent_source(statements), Control(()))
    assert impatient.judge(attack).escaped == ()


@pytest.mark.parametrize("attack", few(12, [a for a in OWN if a.kind is Kind.NEST]), ids=_named)
def test_the_policy_does_not_stall(attack: Attack) -> None:
    began = time.process_time()
    refusals(attack.source)
    assert time.process_time() - began < 4  # seconds or minutes without the limits on what is compiled


def test_killed_episodes_leave_nothing_behind() -> None:
    with SandboxedHost(killed.LIMITS) as host:
        report = host.kills(list(killed.sources(12)), 100)
    assert report["unlike"] == []
    assert report["benign"] == ""
    assert not any(Path(f"/proc/{pid}").exists() for pid in report["zygotes"])


@pytest.mark.long
def test_a_host_that_is_killed_takes_everything_with_it() -> None:
    with SandboxedHost(ENDLESS) as host:
        pid = host.process.pid
        (zygote,) = children(pid)
        host.send(_endless())
        worker = host.receive(time.monotonic() + PATIENCE)["pid"]
        os.kill(pid, signal.SIGKILL)
        assert all(map(await_gone, (zygote, worker)))


def test_a_zygote_that_is_killed_takes_its_worker_with_it() -> None:
    with SandboxedHost(ENDLESS) as host:
        (zygote,) = children(host.process.pid)
        host.send(_endless())
        worker = host.receive(time.monotonic() + PATIENCE)["pid"]
        os.kill(zygote, signal.SIGKILL)
        assert await_gone(worker)


@pytest.mark.long
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_wall_holds_for_an_unprivileged_host_too() -> None:
    names = "open_secret os_environ fork_bomb_small kill_parent libc_connect forge_two_answers call_prlimit_own os_exit"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "tests.redteam.unprivileged"),
            *(sys.executable, "-c", AS_NOBODY, str(LATE), str(SOON), *names.split()),
        ],
        cwd=ROOT,
        env=unmeasured(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [NOBODY, {name: [] for name in names.split()}, [], [], ""]


def _endless() -> dict[str, object]:
    source = agent_source("while True: pass")
    return {"source": source, "earlier": "", "key": "", "goal": "", "tail": "", "limit": 9}
