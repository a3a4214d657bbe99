"""The attacks that a prototype of the sandbox was built against: resources, crashes, the protocol."""

from __future__ import annotations

from tests.redteam.attack import Attack, Control, Sign, attacks

_RESOURCES = r"""
## signal_alarm_tricks: hang
import signal
for s in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU, signal.SIGSEGV):
    signal.signal(s, signal.SIG_IGN)
while True:
    pass

## while_true: hang
while True:
    pass

## sleep_forever: hang
import time
time.sleep(10**6)

## c_loop_sum: hang
sum(range(10**13))

## bigint_pow: hang
x = 3 ** (10**9)

## regex_redos: hang
import re
re.match(r"(a+)+$", "a" * 60 + "b")

## infinite_except_swallow: hang
while True:
    try:
        while True:
            pass
    except BaseException:
        pass

## del_finalizer: hang
class D:
    def __del__(self):
        while True:
            pass
self.d = D()
raise RuntimeError("x")

## memory_list: mem
x = []
while True:
    x.append(bytearray(1 << 22) + b"1")

## memory_numpy: mem
import numpy as np
x = np.ones((20000, 20000, 4))
raise RuntimeError("LEAK MEM %d" % x.nbytes)

## huge_exception: out
raise RuntimeError("A" * (1 << 28))

## evil_exception_str: out
class E(Exception):
    def __str__(self):
        while True:
            pass
raise E()

## huge_print: out
while True:
    print("A" * (1 << 20))

## forge_oversize: out
import os
os.write(11, b"E\xff\xff\xff\x7f" + b"x" * 100000)

## recursion: crash
def f(n):
    return f(n + 1)
f(0)

## recursion_setlimit: crash
import sys
sys.setrecursionlimit(10**9)
def f(n):
    return f(n + 1)
f(0)

## c_stack_overflow: crash
x = []
for i in range(10**6):
    x = [x]
repr(x)

## code_replace_segv: crash
(lambda: 0).__code__
f = lambda: 0
f.__code__ = f.__code__.replace(co_code=b"\x64\xff" * 20, co_consts=())
f()
"""

_PROTOCOL = r"""
## systemexit: ctl
raise SystemExit(0)

## os_exit: ctl
import os
os._exit(0)

## getattribute_override: ctl2
# member:
def __getattribute__(self, n):
    while True:
        pass
# body:
yield 0

## infinite_yield: steps
while True:
    yield 0

## yield_str: garbage
yield "forward"

## yield_7: garbage
yield 7

## yield_neg: garbage
yield -1

## yield_bool: garbage
yield True

## yield_nan: garbage
yield float("nan")

## yield_hugeint: garbage
yield 10**5000

## yield_index_obj: garbage
class X:
    def __index__(self):
        return 2
    __int__ = __index__
yield X()

## yield_intsub: garbage
class X(int):
    def __eq__(self, o):
        return True
    def __le__(self, o):
        return True
    def __ge__(self, o):
        return True
    __hash__ = int.__hash__
yield X(99)

## forge_fd: forge
import os
for fd in range(3, 20):
    try:
        os.write(fd, b"A\x02" * 1000)
    except OSError:
        pass

## mutate_grid: mut
self.full_grid[0, 0] = "goal green"
"""

_RESOURCES_CONTROLS = {
    "recursion": Control((Sign.FAILED,), "Python stops it by itself"),
    "recursion_setlimit": Control((Sign.GREW, Sign.DIED)),
    "c_stack_overflow": Control((Sign.FAILED, Sign.DIED), "most versions of Python stop it by themselves"),
    "memory_numpy": Control((Sign.GREW, Sign.FAILED), "a machine with little memory refuses it by itself"),
    "forge_oversize": Control((Sign.SENT,)),
}
_PROTOCOL_CONTROLS = {
    "systemexit": Control((Sign.DIED,), by_hand=True),
}

LIMITS: tuple[Attack, ...] = (
    *attacks(_RESOURCES, _RESOURCES_CONTROLS),
    *attacks(_PROTOCOL, _PROTOCOL_CONTROLS),
)
