"""Processes to lock down for tests, and hosts that lack a part of the kernel or lie about it.

``python -m tests.support.spca.kernel`` forks a child for each request: one JSON line with the code to run, the layers
to put on first, and the user to become before that. The child has descriptors 3 and 4 as a worker has. It answers with
one JSON line: what the code assigned to ``answer``, and how the child ended.
"""

from __future__ import annotations

import ctypes
import errno
import faulthandler
import gc
import json
import os
import resource
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
import numpy.random

from spca.sandbox.kernel import lockdown, seccomp
from spca.sandbox.kernel.libc import PRCTL, syscall
from spca.sandbox.kernel.limits import Limits
from spca.sandbox.kernel.lockdown import IN_FD, OUT_FD, Layer
from tests.support.waiting import PATIENCE

ROOT = Path(__file__).parents[3]
NONE = Layer(0)
CHILD_SECONDS = PATIENCE
_PR_SET_NO_NEW_PRIVS = 38
_RETURN_ERRNO = 0x00050000
_PRLIMIT64 = 302


class Ended(NamedTuple):
    """What a child said, and its exit code (negative: the signal)."""

    answer: Any
    code: int


class Children:
    """A running ``python -m tests.support.spca.kernel``; a context manager."""

    def __enter__(self) -> Self:
        command = [sys.executable, "-m", "tests.support.spca.kernel"]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT, env=environment
        )
        return self

    def run(self, code: str, layers: Layer = NONE, user: int | None = None, **limits: int) -> Ended:
        """Run ``code`` behind ``layers``; as ``user`` from before that, which takes root."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"code": code, "layers": int(layers), "user": user, "limits": limits}
        print(json.dumps(request), file=self._process.stdin, flush=True)
        return Ended(*json.loads(self._process.stdout.readline()))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()


def forbid(answers: Mapping[int, int]) -> None:
    """Have the kernel answer these system calls with these error numbers from now on; 0 is a success without effect.

    ``prlimit64`` goes on to tell limits.
    """
    program = [seccomp.Instruction(0x20, 0, 0, 0)]  # load the number
    for number, answer in answers.items():
        told = [
            seccomp.Instruction(0x20, 0, 0, 16 + 2 * 8),  # load the low half of the third argument
            seccomp.Instruction(0x15, 0, 1, 0),
            seccomp.Instruction(0x06, 0, 0, seccomp.RET_ALLOW),
        ]
        body = [
            *(told if number == _PRLIMIT64 else []),
            seccomp.Instruction(0x06, 0, 0, _RETURN_ERRNO | answer),
        ]
        program += [seccomp.Instruction(0x15, 0, len(body), number), *body]
    program.append(seccomp.Instruction(0x06, 0, 0, seccomp.RET_ALLOW))
    syscall(PRCTL, _PR_SET_NO_NEW_PRIVS, 1)
    seccomp.load(seccomp.encode(program))


def call(number: int, *args: int) -> int:
    """The result of a system call, or its negative error number."""
    try:
        return syscall(number, *args)
    except OSError as error:
        return -(error.errno or 0)


def machine_code(code: bytes) -> Any:
    """A function of no arguments made of machine code, which returns the low half of RAX."""
    address = syscall(9, 0, 4096, 7, 0x22, -1, 0)
    ctypes.memmove(address, code, len(code))
    return ctypes.CFUNCTYPE(ctypes.c_uint32)(address)


def main() -> None:
    """Serve standard input."""
    for line in sys.stdin:
        print(json.dumps(_run(json.loads(line))), flush=True)


def _run(request: Mapping[str, Any]) -> tuple[object, int]:
    heard, said = os.pipe()
    pid = os.fork()
    if not pid:
        _be_child(request, said)
    os.close(said)
    text, deadline = b"", time.monotonic() + CHILD_SECONDS
    while select.select([heard], [], [], max(0.0, deadline - time.monotonic()))[0]:
        data = os.read(heard, 1 << 16)
        if not data:
            break
        text += data
    else:
        os.killpg(pid, signal.SIGKILL)
        text = b'"no end"'
    os.close(heard)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    try:
        return json.loads(text or "null"), code
    except ValueError:
        return text.decode(errors="replace"), code


def _be_child(request: Mapping[str, Any], said: int) -> NoReturn:
    names: dict[str, Any] = {
        "answer": None,
        **{each.__name__: each for each in (call, machine_code, Path, Layer, Limits)},
        **{m.__name__.rpartition(".")[2]: m for m in (ctypes, errno, faulthandler, gc, lockdown, os, resource)},
        **{m.__name__.rpartition(".")[2]: m for m in (seccomp, signal, socket, sys, time)},
        "np": np,
    }
    try:
        os.setpgid(0, 0)
        incoming = os.open("/dev/null", os.O_RDONLY)
        spare = [os.dup2(incoming, 20), os.dup2(said, 21)]
        os.dup2(spare[0], IN_FD)
        os.dup2(spare[1], OUT_FD)
        os.closerange(OUT_FD + 1, 256)
        os.closerange(0, IN_FD)
        sys.stdin = sys.stdout = sys.stderr = None
        if request["user"] is not None:
            os.setgroups([])
            os.setresgid(*[request["user"]] * 3)
            os.setresuid(*[request["user"]] * 3)
        code = compile(request["code"], "<child>", "exec")
        lockdown.apply(Layer(request["layers"]), Limits(**request["limits"]))
        exec(code, names)  # noqa: S102 - it is the tests' own
        os.write(OUT_FD, json.dumps(names["answer"]).encode())
        os._exit(0)
    except BaseException as error:  # boundary: whatever went wrong is the answer
        os.write(OUT_FD, json.dumps(f"{type(error).__name__}: {error}").encode())
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
