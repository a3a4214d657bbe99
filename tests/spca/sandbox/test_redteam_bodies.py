"""Attacks whose agent has the body of a plugin: the sandbox holds them as well, and its processes know no plugin."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from spca.sandbox.kernel.limits import Limits
from tests.redteam import killed
from tests.redteam.attack import Attack, Control, Kind, agent_source
from tests.redteam.given import GIVEN
from tests.redteam.harness import SandboxedHost
from tests.redteam.own import OWN
from tests.redteam.processes import children
from tests.support.tiers import few
from tests.support.waiting import AGES, PATIENCE

LATE: Final = 7.0
"""Seconds that a busy machine may be late, as in ``test_redteam.py``."""

NAMES: Final = (
    *("mutate_grid", "mutate_grid_by_flag", "mutate_grid_by_base", "open_secret", "os_environ", "kill_parent"),
    *("fork_bomb_small", "forge_fd", "forge_two_answers", "libc_connect", "call_prlimit_own", "os_exit", "systemexit"),
)
CHOSEN: Final = [attack for attack in (*GIVEN, *OWN) if attack.name in NAMES]

LOOK_AROUND: Final = """
import gc, os, sys
names = [name for name in sys.modules if name.partition(".")[0] in ("vending", "gymnasium", "minigrid")]
names += [name for name in sys.modules if name.startswith(("spca.plugins", "spca.act", "spca.bodies", "spca.llm"))]
named = [each for each in gc.get_objects() if isinstance(each, type) and each.__name__ in ("Vending", "Machine")]
paths = [path for path in sys.path if "vend" in path]
raise KeyError(repr((names, named, dict(os.environ), paths)))
"""

OF_THE_PLUGIN: Final = (b"MyLab/Vending", b"Slots with drinks", b"vending.script", b"ScriptedModel")
"""Texts that a process which has loaded the plugin has in its memory."""


@pytest.fixture(scope="module")
def machine() -> Iterator[SandboxedHost]:
    with SandboxedHost(slack=LATE, stage="machine") as host:
        yield host


def test_the_names_are_those_of_attacks() -> None:
    assert {attack.name for attack in CHOSEN} == set(NAMES)


@pytest.mark.parametrize("attack", few(7, CHOSEN), ids=lambda attack: attack.name)
def test_the_wall_holds_for_the_body_of_a_plugin(attack: Attack, machine: SandboxedHost) -> None:
    assert machine.judge(attack).escaped == ()


def test_the_body_of_the_attack_is_the_plugins(machine: SandboxedHost) -> None:
    source = agent_source("raise KeyError(f'{self.labels.tolist()} {self.price}')")
    assert "unknown" in machine.judge(Attack("read", Kind.CALL, source, Control(()))).end
    yields = agent_source("yield 3\nyield 4")
    verdict = machine.judge(Attack("four", Kind.GARBAGE, yields, Control(())))
    assert "4" in verdict.end  # the machine has four primitives


def test_generated_code_finds_no_plugin(machine: SandboxedHost) -> None:
    end = machine.judge(Attack("look", Kind.CALL, agent_source(LOOK_AROUND), Control(()))).end
    assert "([], [], {}, [])" in end


def test_killed_episodes_leave_nothing_behind() -> None:
    with SandboxedHost(killed.LIMITS, stage="machine") as host:
        report = host.kills(list(killed.sources(12)), 100)
    assert report["unlike"] == []
    assert report["benign"] == ""
    assert not any(Path(f"/proc/{pid}").exists() for pid in report["zygotes"])


def test_no_process_of_the_sandbox_has_the_plugin_in_its_memory() -> None:
    with SandboxedHost(Limits(AGES, AGES, int(AGES), AGES), stage="machine") as host:
        (zygote,) = children(host.process.pid)
        host.send(_make_endless())
        worker = host.receive(time.monotonic() + PATIENCE)["pid"]
        time.sleep(0.5)  # the worker reads its start
        try:
            found = {name: find_texts(pid) for name, pid in (("zygote", zygote), ("worker", worker))}
        except PermissionError:
            pytest.skip("this user may not look into the memory of another process")
        assert find_texts(host.process.pid) == set(OF_THE_PLUGIN)  # so it would be seen
        for pid in (zygote, worker):
            assert "vending" not in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")
            assert b"vending" not in Path(f"/proc/{pid}/environ").read_bytes()
            assert b"vending" not in Path(f"/proc/{pid}/cmdline").read_bytes()
        os.kill(worker, signal.SIGKILL)  # its code never ends
    assert found == {"zygote": set(), "worker": set()}


def find_texts(pid: int) -> set[bytes]:
    """Return those of :data:`OF_THE_PLUGIN` that the memory of a process holds."""
    maps = Path(f"/proc/{pid}/maps").read_text(encoding="utf-8").splitlines()
    found: set[bytes] = set()
    with Path(f"/proc/{pid}/mem").open("rb", 0) as memory:
        for line in maps:
            bounds, rights, *_rest = line.split()
            begin, end = (int(bound, 16) for bound in bounds.split("-"))
            if not rights.startswith("rw") or "[v" in line:
                continue
            try:
                memory.seek(begin)
                part = memory.read(end - begin)
            except OSError:  # a part that is not there
                continue
            found.update(text for text in OF_THE_PLUGIN if text in part)
    return found


def _make_endless() -> dict[str, Any]:
    source = agent_source("while True: pass")
    return {"source": source, "earlier": "", "key": "", "goal": "", "tail": "", "limit": 9}
