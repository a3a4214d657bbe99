"""Attempts at forbidden operations. Workers receive this file as generated code; the host never imports it."""

import ctypes
import os
import socket
import threading
from collections.abc import Iterator
from typing import Any

from spca.sandbox.kernel.libc import syscall

# Placeholders: the host appends assignments with the actual values to this text.
CANARY = ""
NEW_FILE = ""
PORT = 0
MARK = "0"
VICTIM = 0
MEMORY_BYTES = 0


class Agent:
    """An agent whose methods each attempt one forbidden operation."""

    map: Any

    def attempt(self, name: str) -> Iterator[int]:
        """Call the method ``name``. If it raises, print the error and yield 0; otherwise yield 1."""
        try:
            getattr(self, name)()
        except BaseException as error:  # boundary: the host gets every error
            print(f"{type(error).__name__}: {error}", end="")
            yield 0
        else:
            yield 1

    def read_file(self) -> None:
        print(open(CANARY).read())  # noqa: SIM115 - the process ends soon

    def write_file(self) -> None:
        open(NEW_FILE, "w").close()

    def connect(self) -> None:
        socket.socket().connect(("127.0.0.1", PORT))

    def fork(self) -> None:
        pid = os.fork()
        if not pid:
            print(MARK)
            os._exit(0)
        os.waitpid(pid, 0)

    def thread(self) -> None:
        thread = threading.Thread(target=print, args=[MARK])
        thread.start()
        thread.join(5)

    def machine_code(self) -> None:
        read = 1
        write = 2
        execute = 4
        try:
            self._run_code(read | write | execute, 0)
        except OSError:
            self._run_code(read | write, read | execute)

    def _run_code(self, protection: int, later: int) -> None:
        """Run machine code that prints the mark.

        While the code is written, its memory has the ``protection`` flags. Before the code runs, the flags change to
        ``later``, unless ``later`` is 0.
        """
        mmap = 9
        mprotect = 10
        private_anonymous = 0x22
        size = 4096
        code = b"\xb8" + int(MARK, 16).to_bytes(4, "little") + b"\xc3"  # mov eax, MARK; ret
        address = syscall(mmap, 0, size, protection, private_anonymous, -1, 0)
        ctypes.memmove(address, code, len(code))
        if later:
            syscall(mprotect, address, size, later)
        print(f"{ctypes.CFUNCTYPE(ctypes.c_uint32)(address)():08x}")

    def trace(self) -> None:
        ptrace = 101
        seize = 0x4206
        syscall(ptrace, seize, VICTIM, 0, 0)

    def kill(self) -> None:
        os.kill(VICTIM, 9)

    def memory(self) -> None:
        bytes(MEMORY_BYTES)

    def execute(self) -> None:
        os.execve("/proc/self/exe", ["python", "-I", "-S", "-c", ""], {})  # noqa: S606 - it must not work

    def change_map(self) -> None:
        self.map.flags.writeable = True
        self.map[:] = ""

    def forge(self) -> None:
        os.write(4, b"\xe3" + bytes(8))

    def hang(self) -> None:
        while True:
            pass
