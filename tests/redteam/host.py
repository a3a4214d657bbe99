"""The interposed host: a process with secrets that runs attacks in the sandbox, and tells what it saw.

A program of its own, so that an attack that gets through harms nobody else. One JSON request a line on standard input,
JSON lines as answers: the worker's process id as soon as there is one, then the report.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from typing import Any

from spca.contracts import AgentSource, PlanStep
from spca.protocols import Finished, Yielded
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.limits import Limits
from tests.redteam.processes import become_subreaper, children, descriptors, forget_peak, memory
from tests.redteam.scene import PLAN, HiddenEnv, drive, say, source_of
from tests.redteam.stages import STAGES, Stage
from tests.support.contracts.executing import Event, codes, run, steps

ENV = HiddenEnv()
_OUT = 1


def serve(executor: SandboxExecutor, stage: Stage) -> None:
    """Answer requests until there are no more."""
    for line in sys.stdin:
        request = json.loads(line)
        if "kills" in request:
            say(_OUT, kill_many(executor, stage, request["kills"]))
        else:
            say(_OUT, attack(executor, stage, request))


def attack(executor: SandboxExecutor, stage: Stage, request: dict[str, Any]) -> dict[str, Any]:
    """Run the attack, then harmless code; what became of both."""
    prepare_bait(request)
    if request["earlier"]:
        _run(executor, stage, source_of(stage.translate(request["earlier"]), os.getpid()), PLAN)
    state = program_state()
    forget_peak()
    before = memory("self", "VmRSS")
    report = _driven(executor, stage, source_of(stage.translate(request["source"]), os.getpid()), request["limit"])
    report["primitives"] = len(stage.body.primitives)
    report["grown"] = memory("self", "VmHWM") - before
    report["unlike"] = differences(state, program_state())
    report["benign"] = _benign(executor, stage)
    return report


def prepare_bait(request: dict[str, Any]) -> None:
    """Put what the attack is after where this process has it."""
    os.environ["REDTEAM_API_KEY"] = request["key"]
    ENV.hide(request["goal"], request["tail"])


def kill_many(executor: SandboxExecutor, stage: Stage, sources: list[str]) -> dict[str, Any]:
    """Episodes of hostile code, one after the other; how many ended other than by a failure, and what is left."""
    state = program_state()
    ends: dict[str, int] = {}
    for at, text in enumerate(sources):
        episode = executor.start(AgentSource(stage.translate(text)), PLAN, (), stage.body)
        if at % 10:  # the others are closed before they have begun, or in the middle
            end = drive(episode, 1 if at % 10 == 5 else 9, stage.view())["end"]
            ends[end] = ends.get(end, 0) + 1
        episode.close()
    return {
        "ends": ends,
        "zygotes": children(os.getpid()),
        "unlike": differences(state, program_state()),
        "benign": _benign(executor, stage),
    }


def _driven(executor: SandboxExecutor, stage: Stage, source: AgentSource, limit: int) -> dict[str, Any]:
    began = time.monotonic()
    episode = executor.start(source, PLAN, (), stage.body)
    started = time.monotonic() - began
    say(_OUT, {"pid": episode.pid})
    try:
        return drive(episode, limit, stage.view()) | {"started": started}
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


def _run(executor: SandboxExecutor, stage: Stage, source: AgentSource, plan: Sequence[PlanStep]) -> list[Event]:
    return run(executor, source, plan, body=stage.body, view=stage.view())


def _benign(executor: SandboxExecutor, stage: Stage) -> str:
    """Empty when harmless code runs as it should."""
    events = _run(executor, stage, stage.benign, steps("look"))
    if codes(events) == [0, 1, 2] and isinstance(events[-1], Finished) and isinstance(events[0], Yielded):
        return ""
    return repr(events)


def main() -> int:
    """``python -m tests.redteam.host LIMITS STAGE``: the limits as JSON, and the name of the stage."""
    become_subreaper()
    limits, name = sys.argv[1:]
    stage = STAGES[name]()
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    with SandboxExecutor(limits=Limits(**json.loads(limits)), check=None) as executor:
        _benign(executor, stage)
        say(_OUT, {"ready": os.getpid(), "level": executor.level})
        serve(executor, stage)
    return 0


if __name__ == "__main__":
    sys.exit(main())
