"""The interposed host: a process with secrets that runs attacks in the sandbox, and tells what it saw.

A program of its own, so that an attack that gets through harms nobody else. One JSON request a line on standard input,
JSON lines as answers: the worker's process id as soon as there is one, then the report.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

from spca.contracts import AgentSource
from spca.protocols import Finished, Yielded
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.redteam.processes import become_subreaper, children, descriptors, forget_peak, memory
from tests.redteam.scene import PLAN, HiddenEnv, drive, say, source_of
from tests.support.contracts.executing import codes, methods, run, steps

ENV = HiddenEnv()
_OUT = 1
_BENIGN = methods("""
    def look(self):
        for code in (0, 1, 2):
            yield code if (self.full_grid == "key blue").any() else 6
""")


def serve(executor: SandboxExecutor) -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        if "kills" in request:
            say(_OUT, kill_many(executor, request["kills"]))
        else:
            say(_OUT, attack(executor, request))


def attack(executor: SandboxExecutor, request: dict[str, Any]) -> dict[str, Any]:
    """Run the attack, then harmless code; what became of both."""
    prepare_bait(request)
    if request["earlier"]:
        run(executor, source_of(request["earlier"], os.getpid()), PLAN)
    state = program_state()
    forget_peak()
    before = memory("self", "VmRSS")
    report = _driven(executor, source_of(request["source"], os.getpid()), request["limit"])
    report["grown"] = memory("self", "VmHWM") - before
    report["unlike"] = differences(state, program_state())
    report["benign"] = _benign(executor)
    return report


def prepare_bait(request: dict[str, Any]) -> None:
    """Put what the attack is after where this process has it."""
    os.environ["REDTEAM_API_KEY"] = request["key"]
    ENV.hide(request["goal"], request["tail"])


def kill_many(executor: SandboxExecutor, sources: list[str]) -> dict[str, Any]:
    """Episodes of hostile code, one after the other; how many ended other than by a failure, and what is left."""
    state = program_state()
    ends: dict[str, int] = {}
    for at, text in enumerate(sources):
        episode = executor.start(AgentSource(text), PLAN, ())
        if at % 10:  # the others are closed before they have begun, or in the middle
            end = drive(episode, 1 if at % 10 == 5 else 9)["end"]
            ends[end] = ends.get(end, 0) + 1
        episode.close()
    return {
        "ends": ends,
        "zygotes": children(os.getpid()),
        "unlike": differences(state, program_state()),
        "benign": _benign(executor),
    }


def _driven(executor: SandboxExecutor, source: AgentSource, limit: int) -> dict[str, Any]:
    began = time.monotonic()
    episode = executor.start(source, PLAN, ())
    started = time.monotonic() - began
    say(_OUT, {"pid": episode.pid})
    try:
        return drive(episode, limit) | {"started": started}
    finally:
        episode.close()


def program_state() -> dict[str, int]:
    """What must be the same after an attack as before: descriptors and processes of the host and of the zygote."""
    zygotes = children(os.getpid())
    state = {"children": len(zygotes), "descriptors": descriptors(os.getpid())}
    for zygote in zygotes:
        state |= {f"workers of {zygote}": len(children(zygote)), f"descriptors of {zygote}": descriptors(zygote)}
    return state


def differences(before: dict[str, int], after: dict[str, int]) -> list[str]:
    """Return what has changed, in words."""
    names = before.keys() | after.keys()
    return sorted(f"{n}: {before.get(n)} -> {after.get(n)}" for n in names if before.get(n) != after.get(n))


def _benign(executor: SandboxExecutor) -> str:
    """Empty when harmless code runs as it should."""
    events = run(executor, _BENIGN, steps("look"))
    if codes(events) == [0, 1, 2] and isinstance(events[-1], Finished) and isinstance(events[0], Yielded):
        return ""
    return repr(events)


def main() -> int:
    """``python -m tests.redteam.host LIMITS``: the limits as JSON."""
    become_subreaper()
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    with SandboxExecutor(limits=Limits(**json.loads(sys.argv[1])), check=None) as executor:
        _benign(executor)
        say(_OUT, {"ready": os.getpid(), "level": executor.level})
        serve(executor)
    return 0


if __name__ == "__main__":
    sys.exit(main())
