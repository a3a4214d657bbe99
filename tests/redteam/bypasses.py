"""Statements that reach for what generated code has no business with, in ways that a reader easily overlooks.

Aliases, format strings, patterns, annotations that are evaluated, arrays that write themselves, identifiers that are
only equal after normalization. A semicolon stands for a line break.
"""

from __future__ import annotations

from typing import Final

_WIDE_G, _WIDE_O = "\uff47", "\uff4f"

BYPASSES: Final = tuple(
    line.replace(";", "\n").replace("<g>", _WIDE_G).replace("<o>", _WIDE_O)
    for line in r"""
def f(x: open("/etc/passwd").read()): pass
import typing;def f(x: "open('/etc/passwd').read()"): pass;typing.get_type_hints(f)
import typing;typing.ForwardRef("open('/x')")._evaluate(None, None, frozenset())
from typing import ForwardRef, get_type_hints
from typing import evaluate_forward_ref
from functools import singledispatch
from functools import singledispatchmethod
f = "{0.gi_frame}".format;f(self)
str.format("{0.gi_frame}", self)
list(map(str.format, ["{0.gi_frame}"], [self]))
("{0." + "gi_frame}").format(self)
"{x.gi_frame}".format_map({"x": self})
s = str;s.format("{0.gi_frame}", self)
"{0!r:{1.gi_frame}}".format(self, self)
type("").format("{0.gi_frame}", self)
"".join(["{0.gi", "_frame}"]).format(self)
getattr("{0.gi_frame}", "format")(self)
f"{self.attack.__globals__}"
import functools;functools.reduce(getattr, ["gi_frame"], self)
list(map(getattr, [self], ["gi_frame"]))
getattr(self, "gi_" + "frame")
g = getattr;g(self, "gi_frame")
[getattr][0](self, "gi_frame")
match self.attack():;    case object(gi_frame=f): print(f)
import numpy as np;np.lib.npyio
import numpy as np;np.ma.core
import numpy as np;np.random.mtrand
import numpy as np;x = np;x.load("a")
import numpy as np;[np][0].load("a")
import numpy as np;np.ndarray.tofile(self.full_grid, "/tmp/x")
self.full_grid.tofile("/tmp/x")
getattr(self.full_grid, "tofile")("/tmp/x")
import numpy as np;np.rec.fromfile("x")
import numpy as np;np.strings.np
import numpy as np;np.char.numpy
import numpy as np;np.linalg.linalg.sys
import numpy as np;np.info("x")
import numpy as np;np.lib.stride_tricks.as_strided(np.zeros(3), (9999999,), (8,))
import numpy.random._pickle as p
from numpy import ctypeslib
import numpy as np;self.full_grid.ctypes.data
self.full_grid.flags.writeable = True
self.full_grid.setflags(write=True)
self.full_grid.dump("/tmp/x")
import numpy as np;np.memmap
import numpy as np;np.lib.format.read_array
import numpy as np;np.exceptions.sys
import numpy as np;np.array([1]).__array_interface__
import copy;copy.copyreg
import collections.abc as a;a.sys
import collections;collections._sys
from collections import _sys
import enum;enum.sys
from typing import sys
from . import x
import os.path as numpy
import random;random.SystemRandom().random()
import random;random._inst
import dataclasses;dataclasses.make_dataclass("X", [("a", "print()")])
import dataclasses;dataclasses.sys
type("X", (), {"gi_frame": 1})
type(self).mro()
type(self).turn_left = None
Agent.turn_left = None
self.turn_left = 3
for self.turn_left in [1]: pass
del self.turn_left
setattr(self, "turn_left", 1)
[0 for self.turn_left in [1]]
with self as self.turn_left: pass
self.__dict__["turn_left"] = 1
vars(self)["x"] = 1
import numpy as self
self.previous_actions.append(1)
super().__getattribute__("x")
object.__getattribute__(self, "x")
(lambda: 0).func_code
g = (i for i in ());g.gi_code
async def f(): pass
try: pass;except Exception as e: e.__traceback__
try: pass;except Exception as e: e.tb_frame
try: pass;except AttributeError as e: e.obj
__builtins__["open"]
print.__self__
globals()["x"]
dir()
import builtins
memoryview(b"x")
exit()
breakpoint()
input()
compile("1", "", "eval")
type.__call__
copyright.__class__
license()
help
import operator;operator.attrgetter("gi_frame")(self)
from operator import methodcaller
import string;string.Formatter()
import re;re._compiler
import re;re.Scanner
class X(metaclass=type): pass
class X:;    def __get__(self, a, b): return 1
class X:;    def __del__(self): print(1)
class X:;    def __getattr__(self, n): return n
class X:;    def __reduce__(self): return (print, ())
class X((lambda: object)()): pass
self.<g>i_frame
<o>pen("x")
import time
import threading
import queue;queue.threading
class X:;    def __set_name__(self, o, n): pass
match self:;    case object(__globals__=x): pass
import numpy as np;np.random.default_rng().bit_generator.ctypes
import numpy as np;np.__config__
import typing;typing.get_args(typing.Optional["open('/etc/hostname').read()"])[0]._evaluate({}, {}, frozenset())
import enum;enum.Enum._convert_("E", "os", lambda n: n == "system").system.value("id")
import enum;enum.Enum("E", {"__array_" + "interface__": {}})
import enum;E = enum.Enum;E("E", {"__array_" + "interface__": {}})
from enum import Enum;class E(Enum): pass;E("F", names={"__array_" + "interface__": {}})
from dataclasses import fields;f = fields(C)[0];f.name = "a=open('/etc/hostname')"
import dataclasses;f = dataclasses.field();f.name = "a=open('/etc/hostname')"
t = type;t("X", (), {"__annota" + "tions__": {"a=open('/etc/hostname')": int}})
type(int)("X", (), {"__annota" + "tions__": {"a=open('/etc/hostname')": int}})
from functools import wraps;w = wraps;w(self, ("gi_" + "frame",))
class X:;    __match_args__ = ("gi_" + "frame",)
try: pass;except AttributeError as e: f = e;f.obj
""".strip().splitlines()
)
