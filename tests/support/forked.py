"""``main.py``, or statements, in a process of its own that need not load everything: it is forked from one that has.

``python -m tests.support.forked`` reads requests as lines of JSON, and writes the exit code of each.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from tests.support.spca.doubles import ROOT

LOADED = ("main", "minigrid", "openai", "spca.llm.providers.offline.reference")
"""What most of the commands load sooner or later."""

WATCH_IMPORTS: Final = """
import sys, threading

def watch(event, arguments):
    is_known = event != "import" or arguments[0].partition(".")[0] in sys.stdlib_module_names
    if not is_known and threading.current_thread() is not threading.main_thread():
        imported.append(arguments[0])

imported = []
sys.pycache_prefix = sys.argv.pop(1)
sys.addaudithook(watch)
"""
"""Statements: from here on ``imported`` names what is imported outside of the main thread, standard library apart.

No byte code is used but that in the folder which the first argument names, so that imports take their time.
"""

MAIN_WATCHED: Final = f"""
{WATCH_IMPORTS}
import main
code = main.main()
print(*sorted(imported), file=sys.stderr, end="")
sys.exit(code)
"""
"""Statements: runs ``main.py`` and writes to standard error what its threads import."""


def run(
    cwd: Path, arguments: Sequence[str], env: Mapping[str, str], program: str = "main"
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; ``program`` is the module whose ``main`` it is."""
    server = _server()
    assert server.stdin
    assert server.stdout
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        asked = {"cwd": str(cwd), "arguments": [*arguments], "env": {**env}, "out": str(out), "err": str(err)}
        asked["program"] = program
        try:
            server.stdin.write(json.dumps(asked) + "\n")
            server.stdin.flush()
            code = int(server.stdout.readline())
        except BaseException:  # such as the time limit of the test: what it waited for must not answer the next
            _stop()
            raise
        return subprocess.CompletedProcess([*arguments], code, *(path.read_text("utf-8") for path in (out, err)))


def run_statements(
    statements: str, *arguments: str, cwd: Path, env: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    """Run them as ``python -c`` does."""
    return run(cwd, [statements, *arguments], env, __name__)


def main() -> None:
    """Run the statements that the first argument holds."""
    del sys.argv[0]
    exec(sys.argv[0], {"__name__": "__main__"})  # noqa: S102 - a test wrote them


@cache
def _server() -> subprocess.Popen[str]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), env.get("PYTHONPATH"))))
    command = (sys.executable, "-m", __name__)
    pipe = subprocess.PIPE
    server = subprocess.Popen(command, env=env, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
    atexit.register(_stop)
    return server


def _stop() -> None:
    if not _server.cache_info().currsize:
        return
    with _server() as server:
        os.killpg(server.pid, signal.SIGKILL)
    _server.cache_clear()


def serve() -> None:
    """Answer requests, each in a process of its own, until there are no more."""
    for name in LOADED:
        importlib.import_module(name)
    gc.freeze()
    for line in sys.stdin:
        if not (pid := os.fork()):
            _become(**json.loads(line))
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


def _become(cwd: str, arguments: list[str], env: dict[str, str], out: str, err: str, program: str) -> None:
    """Be the command: as if this process had just been started for it.

    Raises:
        SystemExit: always.
    """
    main = importlib.import_module(program).main
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    for number, path in enumerate((os.devnull, out, err)):
        opened = os.open(path, os.O_CREAT | os.O_RDWR)
        os.dup2(opened, number)
        os.close(opened)
    sys.argv = [str(ROOT / "main.py"), *arguments]
    sys.exit(main())


if __name__ == "__main__":
    serve()
