"""Objects that lie, and ways to use up time."""

from __future__ import annotations

from tests.redteam.attack import Attack, Control, Sign, attacks

_LIARS = r"""
## yield_class_liar: garbage
class X:
    __class__ = int
    def __int__(self): return 2
    __index__ = __int__
yield X()

## yield_numpy_liar: garbage
import numpy as np
class X(np.int64):
    def __int__(self): return 10**30
    __index__ = __trunc__ = __int__
X.__module__ = "numpy"
yield X(9)

## yield_numpy_float: garbage
import numpy as np
yield np.float64(2)

## yield_numpy_array: garbage
import numpy as np
yield np.array([2])

## yield_numpy_bool: garbage
import numpy as np
yield np.bool_(True)

## yield_enum_beyond: garbage
import enum
yield enum.IntEnum("E", {"beyond": 7}).beyond

## yield_patched_builtins: garbage
import builtins
kept = builtins.isinstance, builtins.len
builtins.isinstance = lambda *_: True
builtins.len = lambda *_: 1000
yield "forward"
builtins.isinstance, builtins.len = kept

## yield_patched_runner: garbage
import gc
for each in gc.get_objects():
    if type(each).__name__ == "Runner":
        each._primitive_count = 1000
yield 99

## yield_hostile_word: text
yield type("\x1b[31m\u202e", (), {"__repr__": lambda _: "\x1b[2J\x07\u2066</error>\ud800"})()
raise ValueError("\x1b")

## repr_forever: hang
class X:
    def __repr__(self):
        while True: pass
raise ValueError(X())

## metaclass_name_forever: hang
class M(type):
    @property
    def __name__(cls):
        while True: pass
class E(Exception, metaclass=M): pass
raise E

## setattr_hook_forever: hang
# member:
def __init__(self):
    while True: pass
# body:
pass

## class_call_forever: hang
# module:
class Meta(type):
    def __call__(cls):
        while True: pass
class Agent(metaclass=Meta):
    def attack(self):
        yield 0

## method_lookup_forever: hang
# module:
class Forever:
    def __get__(self, instance, owner):
        while True: pass
class Agent:
    attack = Forever()

## syntax_error_liar: hang
class Line(int):
    def __bool__(self):
        while True: pass
    __gt__ = __lt__ = __le__ = __ge__ = __index__ = __bool__
error = SyntaxError("x")
error.filename, error.lineno = "agent_tmp.py", Line(3)
raise error

## filename_liar: hang
class Name(str):
    def __eq__(self, other):
        while True: pass
    __hash__ = str.__hash__
error = SyntaxError("x")
error.filename, error.lineno = Name("agent_tmp.py"), 3
raise error

## string_subclass_liar: hang
class S(str):
    def __getitem__(self, at):
        while True: pass
    __len__ = __iter__ = __format__ = __str__ = encode = __getitem__
class E(Exception):
    def __str__(self): return S("x")
raise E

## except_in_a_loop: hang
while True:
    try:
        yield from ()
        raise KeyError
    except BaseException:
        continue

## finalizers_forever: hang
class D:
    def __del__(self):
        while True: pass
D()

## trace_function_forever: hang
import sys
def follow(*_):
    while True: pass
sys.settrace(follow)
sys.setprofile(follow)
(lambda: 0)()

## audit_hook_forever: hang
import sys
def hook(*_):
    while True: pass
sys.addaudithook(hook)
compile("1", "x", "eval")

## collector_forever: hang
import gc
def forever(*_):
    while True: pass
gc.callbacks.append(forever)
gc.collect()

## signals_blocked: hang
import ctypes
everything = (ctypes.c_ulong * 16)(*[2**64 - 1] * 16)
ctypes.CDLL(None).pthread_sigmask(0, everything, None)
while True: pass

## lock_forever: hang
import _thread
lock = _thread.allocate_lock()
lock.acquire()
lock.acquire()

## digits_forever: hang
import sys
sys.set_int_max_str_digits(0)
int("9" * 10**7)

## hash_collisions: hang
prime = 2**61 - 1
{number * prime: 0 for number in range(300000)}

## count_forever: hang
import collections, itertools
collections.deque(itertools.count(), maxlen=0)

## numpy_convolution: hang
import numpy as np
np.convolve(np.ones(3 * 10**6), np.ones(3 * 10**6))

## prime_by_regex: hang
import re
re.match(r"^(11+?)\1+$", "1" * 300007)

## permutations_forever: hang
import itertools
sum(1 for _ in itertools.permutations(range(30)))

## slow_yields: hang
import time
while True:
    until = time.perf_counter() + 0.2
    while time.perf_counter() < until: pass
    yield 0
"""
_LIARS_CONTROLS = {
    "slow_yields": Control((Sign.STAYED,)),
}

OBJECTS: tuple[Attack, ...] = attacks(_LIARS, _LIARS_CONTROLS)
