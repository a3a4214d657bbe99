"""The host of attacks that come as problem writers: each breaks out of its namespace first, and then does what it does.

A program of its own, like :mod:`tests.redteam.host`, whose requests and reports it shares.
"""

from __future__ import annotations

import json
import marshal
import os
import sys
import time
from contextlib import closing
from typing import Any, Final

from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.kernel.lockdown import ALL_LAYERS
from spca.sandbox.process import calls
from spca.sandbox.process.calls import Caller, CallError
from spca.writers import in_sandbox
from spca.writers.running import LIMITS, WriterRunner, read_answer
from spca.writers.stored import Miss
from tests.redteam.host import differences, prepare_bait, program_state
from tests.redteam.processes import become_subreaper, forget_peak, memory
from tests.redteam.scene import say
from tests.redteam.writers import OUTER
from tests.support.spca.writing import FETCH, state

_OUT: Final = 1
_STATE: Final = marshal.dumps(state(), 2)
_DRIVER: Final = """

def make_problem(snapshot):
    outer = outer_globals()
    python = outer["builtins"]
    printed = []
    namespace = {"__builtins__": python, "__name__": "agent_tmp"}
    namespace["print"] = lambda *values, **_: printed.append(" ".join(map(str, values)))
    python.exec(SOURCE, namespace)
    for number, code in enumerate(namespace["Agent"]().attack()):
        if python.type(code) is not int or not 0 <= code < 7:
            raise KeyError("it yielded no primitive")
        if number >= LIMIT:
            break
    return "\\n".join(printed)
"""


def writer_source(source: str, limit: int) -> str:
    """Return a writer that takes Python's own builtins and carries out the method ``attack`` of an agent's source."""
    return f"SOURCE = {source!r}\nLIMIT = {limit}\n{OUTER}{_DRIVER}"


def serve(executor: SandboxExecutor) -> None:
    """Answer requests until there are no more."""
    caller, runner = executor.caller(in_sandbox.__name__, LIMITS), WriterRunner(executor)
    _check_benign(runner)
    caller.begin().await_ready()
    say(_OUT, {"ready": os.getpid(), "level": executor.level})
    for line in sys.stdin:
        say(_OUT, judge_request(caller, runner, json.loads(line)))


def judge_request(caller: Caller, runner: WriterRunner, request: dict[str, Any]) -> dict[str, Any]:
    """Run the attack, then a harmless writer; what became of both."""
    prepare_bait(request)
    if request["earlier"]:
        _call(caller, request["earlier"], request["limit"], announces=False)
    before_state = program_state()
    forget_peak()
    before = memory("self", "VmRSS")
    report = _call(caller, request["source"], request["limit"])
    report["grown"] = memory("self", "VmHWM") - before
    report["unlike"] = differences(before_state, program_state())
    report["benign"] = _check_benign(runner)
    return report


def _call(caller: Caller, source: str, limit: int, *, announces: bool = True) -> dict[str, Any]:
    text = writer_source(source.replace("@HPID@", str(os.getpid())), limit)
    began = time.monotonic()
    try:
        code = marshal.dumps(compile(text, in_sandbox.FILENAME, "exec"))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        code = marshal.dumps(compile(f"raise KeyError({type(error).__name__!r})", in_sandbox.FILENAME, "exec"))
    with closing(caller.begin().worker(ALL_LAYERS, LIMITS)) as worker:
        started = time.monotonic() - began
        if announces:
            say(_OUT, {"pid": worker.pid})
        asked = time.monotonic()
        try:
            answer = calls.exchange(worker, LIMITS, marshal.dumps((code, _STATE))).payload.decode(errors="replace")
        except CallError as error:
            answer = f"{in_sandbox.INVALID}{error}"
        slowest = time.monotonic() - asked
    found = _report_of(answer)
    return found | {"started": started, "slowest": slowest, "steps": [], "exact": True, "untouched": True}


def _report_of(answer: str) -> dict[str, Any]:
    """Return what an answer says as an episode's report does; a problem is data, of which only canaries matter."""
    written = read_answer(answer)
    shown = "".join(c for c in written.text if c.isprintable())[:4096]
    end = "Finished" if written.miss is None else "Refused" if written.miss is Miss.REFUSED else "Failed"
    return {"end": end, "status": "", "message": written.reason, "traceback": "", "printed": shown, "position": None}


def _check_benign(runner: WriterRunner) -> str:
    """Return "" when a harmless writer does as it should."""
    (written,) = runner.each([(FETCH, state())], again=True)
    return "" if "(fetched ball_red)" in written.text else repr(written)


def main() -> int:
    """``python -m tests.redteam.as_writer LIMITS``: which the writers' own replace."""
    become_subreaper()
    sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    with SandboxExecutor() as executor:
        executor.verify()
        serve(executor)
    return 0


if __name__ == "__main__":
    sys.exit(main())
