"""The positive control: the same attacks with nothing to hold them, each in a process that is thrown away.

For each request the server forks an interposed host, which forks the process that runs the attack; both hold the
canaries. JSON lines on standard output: both process ids, the report of the attacked process if it lives to give one,
and how both ended.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import select
import sys
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np

from spca.bodies.grid.body import GRID
from spca.contracts import AgentSource
from spca.sense.perception import word_array
from spca.testing.generated_code import make_view
from tests.redteam.processes import become_subreaper, end_children, memory
from tests.redteam.scene import PLAN, HiddenEnv, drive, say, source_of
from tests.support.bodies.grid import seen
from tests.support.contracts.executing import run
from tests.support.inprocess import InProcessExecutor

ENV = HiddenEnv()
_OUT, _COUNTER = 200, 201
_FORGED = range(3, 20)


def interpose(request: dict[str, Any]) -> NoReturn:
    """The interposed host: starts the attack in a process of its own and waits for what becomes of it."""
    os.setsid()
    os.environ["REDTEAM_API_KEY"] = request["key"]
    ENV.hide(request["goal"], request["tail"])
    counter = _offer_descriptors()
    go, begin = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.read(go, 1)
            os.close(go)
            os.close(begin)
            run_attack(request)
        finally:
            os._exit(99)
    ended = os.pidfd_open(child)  # before the attack can leave us without descriptors
    say(_OUT, {"host": os.getpid(), "pid": child, "rss": memory(child, "VmRSS")})
    os.write(begin, b"!")
    if counter in select.select([counter, ended], [], [])[0]:
        say(_OUT, {"sent": len(os.read(counter, 1 << 20))})
    _, status = os.waitpid(child, 0)
    cpu = resource.getrlimit(resource.RLIMIT_CPU)[0]
    say(_OUT, {"ended": os.waitstatus_to_exitcode(status), "limited": cpu != resource.RLIM_INFINITY})
    os._exit(0)


def run_attack(request: dict[str, Any]) -> NoReturn:
    """Run the attack right here and report, unless that comes to nothing."""
    source = source_of(request["source"], os.getppid()).text
    before = memory("self", "VmRSS")
    if request["by_hand"]:
        report = _by_hand(source)
    else:
        executor = InProcessExecutor()
        if request["earlier"]:
            run(executor, source_of(request["earlier"], os.getppid()), PLAN)
        episode = executor.start(AgentSource(source), PLAN, (), GRID)
        report = drive(episode)
        episode.close()
        gc.collect()  # as happens sooner or later in a process that lives on
    report["grown"] = max(0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before)
    say(_OUT, report)
    os._exit(0)


def _by_hand(source: str) -> dict[str, Any]:
    """Drive the bare generator; what it yields is told as text, errors in full."""
    namespace: dict[str, Any] = {"__name__": "agent_tmp"}
    grid = word_array().take(seen(make_view(), "full_grid"))
    before = grid.copy()
    yielded: list[str] = []
    printed: list[str] = []
    message = ""
    try:
        namespace["print"] = lambda *values, **_: printed.append(" ".join(map(str, values)))
        exec(compile(source, "agent_tmp.py", "exec", dont_inherit=True), namespace)  # noqa: S102 - a control
        agent = namespace["Agent"]()
        agent.full_grid = grid
        for value in _first(agent.attack()):
            fine = type(value) is int and 0 <= value < 7
            yielded.append("" if fine else type(value).__name__)
    except Exception as error:  # boundary: a control may raise anything
        message = f"{type(error).__name__}: {error}"
    changed = not np.array_equal(grid, before)
    end = "Failed" if message else "Finished"
    return {"end": end, "message": message, "printed": "".join(printed), "yielded": yielded, "changed": changed}


def _first(generator: Iterator[object]) -> Iterator[object]:
    for _, value in zip(range(20), generator, strict=False):
        yield value


def _offer_descriptors() -> int:
    """A pipe under every number that a forger would try; the end that shows what was written."""
    reading, writing = os.pipe()
    counter, spare = os.dup2(reading, _COUNTER), os.dup2(writing, _COUNTER + 1)
    os.set_blocking(spare, False)
    for number in _FORGED:
        os.dup2(spare, number)
    return counter


def main() -> int:
    """Serve standard input."""
    become_subreaper()
    os.dup2(1, _OUT)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    run(InProcessExecutor(), source_of("class Agent:\n    pass\n", 0), PLAN)
    say(_OUT, {"ready": os.getpid()})
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            interpose(json.loads(line))
        _, status = os.waitpid(child, 0)
        end_children()
        say(_OUT, {"over": os.waitstatus_to_exitcode(status)})
    return 0


if __name__ == "__main__":
    sys.exit(main())
