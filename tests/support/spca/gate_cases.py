"""Cases for the gate: bodies of methods that it refuses, with part of its words, and bodies that it must let through.

A body begins in line 2 of its patch; the violation is there unless the words name a line.
"""

from __future__ import annotations

from pathlib import Path

from spca.errors import PatchError
from spca.sandbox.policy import check_patch

INITIAL = (Path(__file__).parents[3] / "agent.py").read_text()


def method(body: str) -> str:
    """A patch with one method."""
    return "def go(self, agent):\n" + indented(body) + "    yield 0\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def refusal(patch: str) -> str:
    """What the gate says of a patch to the initial agent, "" when it lets it through."""
    try:
        check_patch(patch, INITIAL)
    except PatchError as error:
        return str(error)
    return ""


REACHING = {
    "open('/etc/passwd').read()": "open is not available: generated code has no files",
    "f = open": "open is not available",
    "list(map(eval, ['1']))": "eval is not available",
    "x = {'f': exec}": "exec is not available",
    "def f(x=compile): return x": "compile is not available",
    "print(file=open('f', 'w'))": "open is not available",
    "globals()['x'] = 1": "globals is not available",
    "vars(self)": "vars is not available: name the attributes",
    "input()": "input is not available",
    "breakpoint()": "breakpoint is not available",
    "exit()": "exit is not available: return from the method",
    "__import__('os')": "__import__ is not available: write an import statement",
    "x = __builtins__": "__builtins__ is not available",
    "x = __loader__": "__loader__ is not available",
    "class X:\n    open = 1\n    x = open('f')": "line 4: open is not available",
    "class X:\n    open: int\n    def f(self): return open('f')": "line 4: open is not available",
    "\uff4fpen('f')": "open is not available",
    "self.\uff47i_frame": "gi_frame is not available",
    "import os": "module os is not available: generated code has no files, processes or environment",
    "import os.path as p": "module os.path is not available",
    "from os import environ": "module os is not available",
    "import sys": "module sys is not available: for a largest number use math.inf",
    "import numpy.testing": "module numpy.testing is not available: use numpy itself",
    "import socket": "module socket is not available: available are abc, bisect,",
    "from numpy import load": "numpy.load is not available: generated code has no files",
    "from . import x": "relative and star imports",
    "from random import _os": "random._os is not available",
    "from typing import get_type_hints": "typing.get_type_hints is not available",
    "from functools import singledispatch": "functools.singledispatch is not available",
    "from dataclasses import make_dataclass": "dataclasses.make_dataclass is not available: write a class",
    "import enum\nenum.sys.modules": "line 3: enum.sys is not available",
    "import random as r\nr._os.environ": "line 3: random._os is not available",
    "import dataclasses\ndataclasses.builtins.open": "line 3: dataclasses.builtins is not available",
    "import operator\noperator.attrgetter('a')": "line 3: operator.attrgetter is not available: use a lambda",
    "from operator import methodcaller": "operator.methodcaller is not available",
    "import string\nstring.Formatter()": "line 3: string.Formatter is not available: use an f-string",
    "import collections\ncollections.abc.sys": "line 3: collections.abc.sys is not available",
    "import collections.abc as c\nc.sys": "line 3: collections.abc.sys is not available",
    "import numpy.random as r\nr.mtrand": "line 3: numpy.random.mtrand is not available",
    "from numpy import random as r\nr._pickle": "line 3: numpy.random._pickle is not available",
    "import numpy.lib.stride_tricks\nnumpy.lib.stride_tricks.as_strided(1)": "line 3: numpy.lib.stride_tricks.",
    "import numpy\nnumpy.lib.npyio.load": "line 3: numpy.lib.npyio is not available",
}
MODULES_AS_VALUES = {
    "m = np\nm.load('f')": "the module numpy is no value; write np.<name>",
    "r = np.random\nr.x": "the module numpy.random is no value",
    "print(np)": "the module numpy is no value",
    "self.np = np": "the module numpy is no value",
    "[m.load('f') for m in [np]]": "the module numpy is no value",
    "[np for np in np.load('f')]": "numpy.load is not available",
    "(lambda m=np: m)().load('f')": "the module numpy is no value",
    "def f(np=np.load): return np": "numpy.load is not available",
    "getattr(np, 'load')('f')": "the module numpy is no value",
    "return np": "the module numpy is no value",
    "match np:\n    case m: m.load('f')": "the module numpy is no value",
    "if (m := np): m.load('f')": "the module numpy is no value",
    "np.pi = 3": "the module numpy must not be changed",
    "del np.pi": "the module numpy must not be changed",
    "np.random.seed = 3": "the module numpy.random must not be changed",
    "import heapq\nheapq = 1": "line 3: 'heapq' already stands for 'heapq'",
    "import heapq as m\nimport random as m": "line 3: 'm' already stands for 'heapq'",
    "import heapq\nfor heapq in (): pass": "line 3: 'heapq' already stands for 'heapq'",
    "import numpy as m\ndef f():\n    nonlocal m\n    m = 1": "line 4: m stands for something imported",
    "m = 1\ndef f():\n    nonlocal m\n    import numpy as m": "line 4: m stands for something imported",
    "global np\nimport random as np": "global np is not possible: keep values on self",
    "class X:\n    import numpy as m\nX.m.load('f')": "line 3: imports belong above the methods",
    "class X:\n    np: int\n    x = np.load('f')": "line 4: numpy.load is not available",
    "import numpy as __m\n_Agent__m.load('f')": "import under a name without leading underscores",
}
INSPECTING = {
    "().__class__": "the attribute __class__ is not available: use type(x)",
    "x = ().__class__.__base__.__subclasses__()": "__subclasses__ is not available",
    "type(self).mro()": "the attribute mro is not available",
    "self.go.__globals__": "the attribute __globals__ is not available",
    "self.go.__func__.__code__": "the attribute __code__ is not available",
    "x = self.go(1).gi_frame": "the attribute gi_frame is not available: generated code does not inspect",
    "x = self.go(1).gi_yieldfrom": "the attribute gi_yieldfrom is not available",
    "try: pass\nexcept Exception as e: e.__traceback__.tb_frame": "line 3: the attribute __traceback__",
    "try: pass\nexcept Exception as e: e.__context__": "line 3: the attribute __context__",
    "try: pass\nexcept AttributeError as e: e.obj.load('f')": "line 3: the attribute obj of an exception",
    "try: pass\nexcept AttributeError as e: getattr(e, 'obj')": "line 3: the attribute obj of an exception",
    "match 1:\n    case AttributeError(obj=m): pass": "line 3: the attribute obj of an exception",
    "try: pass\nexcept* ValueError: pass": "except* is not available; write except",
    "getattr(self, name)": "getattr needs a literal name; write x.name",
    "getattr(self, 'a' + 'b')": "getattr needs a literal name",
    "getattr(self, f'turn_{x}')()": "getattr needs a literal name",
    "getattr(*x)": "getattr needs a literal name",
    "getattr(*x, 'a')": "getattr needs a literal name",
    "getattr(self, '__class__')": "the string '__class__' names an internal",
    "getattr(self, '__x__')": "the attribute __x__ is not available",
    "hasattr(self, 'gi_frame')": "names an internal of Python",
    "getattr('{}', 'format')(1)": "format can only be called on a literal string",
    "g = getattr\ng(self, 'x')": "getattr can only be called, with a literal name",
    "list(map(getattr, [self], ['x']))": "getattr can only be called",
    "delattr(self, x)": "delattr needs a literal name",
    "'{0.__class__}'.format(self)": "the attribute __class__ is not available",
    "'{:{0.gi_frame}}'.format(1)": "the attribute gi_frame is not available",
    "'{a[0].__globals__}'.format(a=1)": "the attribute __globals__ is not available",
    "'{.__class__}'.format(self)": "the attribute __class__ is not available",
    "'{0.__class__}'.format_map({})": "the attribute __class__ is not available",
    "x.format(self)": "format needs a literal string before the dot; use an f-string",
    "('{0.__' + 'class__}').format(self)": "format needs a literal string",
    "f'{x}'.format(self)": "format needs a literal string",
    "str.format('{0.__class__}', self)": "format needs a literal string",
    "f = str.format_map": "format_map needs a literal string",
    "match self:\n    case object(__class__=c): pass": "line 3: the attribute __class__",
    "match x:\n    case object(gi_frame=f): pass": "line 3: the attribute gi_frame",
    "match '{}':\n    case str(format=f): pass": "line 3: format can only be called on a literal",
    "class X:\n    __match_args__ = ('gi_frame',)": "line 3: the string 'gi_frame' names an internal",
    "class X:\n    gi_frame: int": "line 3: gi_frame is the name of an internal",
    "class X:\n    def f_back(self): pass": "line 3: f_back is the name of an internal",
    "X.register(int)": "the attribute register is not available: inherit",
    "class X(metaclass=M): pass": "class X must not have a metaclass",
    "class X(**k): pass": "class X must not have a metaclass",
    "class M(type): pass": "the bases of class M must be names of ordinary classes",
    "class M(type(int)): pass": "the bases of class M",
    "x = type('X', (), {})": "type can only be called with one argument: write a class statement",
    "from functools import wraps\nwraps(f, ('x',))": "line 3: functools.wraps can only be called with one argument",
    "class X:\n    def __getattr__(self, n): pass": "line 3: __getattr__ must not be defined",
    "class X:\n    def __del__(self): pass": "line 3: __del__ must not be defined",
    "class X:\n    def __instancecheck__(self, x): pass": "line 3: __instancecheck__ must not be defined",
    "class X:\n    def __reduce__(self): pass": "line 3: __reduce__ must not be defined",
    "class X:\n    __getitem__ = object.__getattribute__": "line 3: the attribute __getattribute__",
    "class X:\n    __array_interface__ = {}": "line 3: __array_interface__ must not be defined",
    "x = {'__instancecheck__': 1}": "names an internal of Python",
    "object.__setattr__(self, 'x', 1)": "the attribute __setattr__ is not available",
    "self.__dict__['full_grid'] = 1": "the attribute __dict__ is not available: name the attributes",
    "__x__ = 1": "__x__ must not be defined",
    "for __x__ in (): pass": "__x__ must not be defined",
    "def f(__x__): pass": "__x__ must not be defined",
    "np.zeros(3).tofile('f')": "the attribute tofile is not available: generated code has no files",
    "np.ndarray.tofile": "the attribute tofile is not available",
    "x = np.zeros(3).ctypes": "the attribute ctypes is not available",
    "self.full_grid.setflags(write=True)": "the attribute setflags is not available: work on a copy",
    "self.full_grid.flags.writeable = True": "the attribute writeable is not available",
    "async def f(): pass": "async code cannot run here",
    "ref._evaluate({}, {}, frozenset())": "the attribute _evaluate is not available: generated code does not evaluate",
    "getattr(ref, '_evaluate')": "the attribute _evaluate is not available",
    "match ref:\n    case object(_evaluate=f): pass": "line 3: the attribute _evaluate",
    "ref.__forward_code__": "the attribute __forward_code__ is not available",
    "from typing import get_args": "typing.get_args is not available",
    "import enum\nenum.Enum._convert_('E', 'os', f)": "line 3: the attribute _convert_ is not available: write a class",
    "E._create_('E', x)": "the attribute _create_ is not available",
    "class X:\n    __match_args__ = ('gi_' + 'frame',)": "line 3: __match_args__ must be a tuple of literals",
    "class X:\n    __slots__ = tuple(names)": "line 3: __slots__ must be a tuple of literals",
}
MAKING = {
    "from enum import Enum\nEnum('E', {'__array_' + 'interface__': {}})": "line 3: the names of an enum must be",
    "from enum import Enum\nEnum('E', [('__array_' + 'interface__', {})])": "line 3: the names of an enum",
    "from enum import Enum\nEnum('E', names={**x})": "line 3: the names of an enum",
    "from enum import Enum\nEnum('E', x)": "line 3: the names of an enum",
    "from enum import Enum\nEnum(*x, 'a')": "line 3: the names of an enum",
    "from enum import Enum\nEnum('E', 'a, __b__')": "line 3: the names of an enum",
    "from enum import Enum\nclass B(Enum): pass\nclass E(B): pass\nE('E', x)": "line 5: the names of an enum",
    "import enum\nf = enum.IntFlag": "line 3: enum.IntFlag can only be called or looked at: inherit from it",
    "t = type": "type can only be called or looked at: write a class statement, or a lambda",
    "[type][0]('X', (), {})": "type can only be called or looked at",
    "type[int]('X', (), {})": "type can only be called or looked at",
    "map(type, ['X'], [()], [{}])": "type can only be called or looked at",
    "type(int)('X', (), {})": "type of a class makes classes",
    "type(type(x))": "type of a class makes classes",
    "class C: pass\ntype(C)": "line 3: type of a class makes classes",
    "c = int\ntype(c)('X', (), d)": "line 3: type can only be called with one argument",
    "type(*x)": "type can only be called with one argument",
    "from functools import wraps\nw = wraps": "line 3: functools.wraps can only be called or looked at: write it as a",
    "from dataclasses import fields": "dataclasses.fields is not available: name the attributes",
    "import dataclasses\nf = dataclasses.field()": "line 3: field can only be the value of an annotated name",
    "from dataclasses import field as f\ng = f": "line 3: dataclasses.field can only be called",
    "from dataclasses import field\nclass C:\n    a: int = field()": "line 3: class C has a field: decorate it with",
    "from dataclasses import dataclass, field\n@dataclass\n@keep\nclass C:\n    a: int = field()": "line 5: class C",
    "from dataclasses import dataclass, field\n@dataclass\nclass C:\n    a: int = field()\n    b: list = [a]": (
        "line 6: the field a cannot be read in the body of its class"
    ),
}
CAUGHT = {
    "try: pass\nexcept Exception as e: f = e\nf.obj": "line 4: the attribute obj of an exception",
    "try: pass\nexcept Exception as e: x.append(e)\ny = x[0].obj": "line 4: the attribute obj of an exception",
    "try: pass\nexcept Exception as e: f = lambda x: x.obj, e": "line 3: the attribute obj of an exception",
    "try: pass\nexcept Exception as e: f = e\ngetattr(f, 'obj')": "line 4: the attribute obj of an exception",
    "class C:\n    def __exit__(self, kind, e, trace): e.obj": "line 3: the attribute obj of an exception",
    "class C:\n    def __exit__(self, *e): e[1].obj": "line 3: the attribute obj of an exception",
}
UNSEEDED = {
    "r = np.random.default_rng()": "line 2: give default_rng a seed, such as 0: runs must be repeatable",
    "r = np.random.default_rng(None)": "give default_rng a seed",
    "r = np.random.default_rng(seed=None)": "give default_rng a seed",
    "np.random.seed()": "give seed a seed",
    "np.random.RandomState()": "give RandomState a seed",
    "np.random.Generator(np.random.PCG64())": "give PCG64 a seed",
    "import random\nrandom.seed()": "line 3: give seed a seed",
    "import random\nrandom.Random()": "line 3: give Random a seed",
    "from random import Random as R\nR()": "line 3: give Random a seed",
}
COMPUTED_NAMES = {
    "t = '{0.gi_frame}'\nt.format(self)": "line 3: the attribute gi_frame is not available",
    "t = '{}'\nt += '{0.gi_frame}'\nt.format(self)": "line 4: format needs a literal string",
    "t = '{}'\nif x: t = x\nt.format(self)": "line 4: format needs a literal string",
    "t = '{}'\ndef f():\n    nonlocal t\n    t = x\nt.format(self)": "line 6: format needs a literal string",
    "t = '{}'\nclass C:\n    t = x\n    y = t.format(1)": "line 5: format needs a literal string",
    "def f(t='{}'): return t.format(self)": "format needs a literal string",
    "t = '{}' if x else '{0.gi_frame}'\n('{}' if x else y).format(self)": "line 3: format needs a literal string",
    "for t in ('{}', x): t.format(self)": "format needs a literal string",
    "for a in ('turn_left', '__class' + '__'): getattr(self, a)": "getattr needs a literal name",
    "for a in ('turn_left', '_evaluate'): getattr(self, a)": "the attribute _evaluate is not available",
    "names = ['turn_left']\nnames.append(x)\nfor a in names: getattr(self, a)": "line 4: getattr needs a literal name",
    "for a in ('full_grid',): setattr(self, a, 1)": "self.full_grid is read-only",
    "for a in 'abc': getattr(self, a)": "getattr needs a literal name",
    "for a, b in (('x', 'y'),): getattr(self, a)": "getattr needs a literal name",
}
STATE = {
    "self.full_grid = 1": "self.full_grid is read-only, the world keeps it; work on a copy",
    "self.full_grid[0, 0] = 'x'": "self.full_grid is read-only",
    "self.full_grid[0][1] = 'x'": "self.full_grid is read-only",
    "self.full_grid.T[0] = 'x'": "self.full_grid is read-only",
    "self.full_grid[0] += 'x'": "self.full_grid is read-only",
    "self.previous_actions += [1]": "self.previous_actions is read-only",
    "self.previous_actions.append(1)": "self.previous_actions is read-only",
    "self.full_grid.fill('x')": "self.full_grid is read-only",
    "x, self.inventory = 1, 2": "self.inventory is read-only",
    "[self.inventory, *x] = 1, 2": "self.inventory is read-only",
    "del self.mission": "self.mission is read-only",
    "del self.previous_actions[0]": "self.previous_actions is read-only",
    "for self.current_dir in x: pass": "self.current_dir is read-only",
    "with x as self.start_dir: pass": "self.start_dir is read-only",
    "self.start_position: tuple = (1, 2)": "self.start_position is read-only",
    "setattr(self, 'full_grid', 1)": "self.full_grid is read-only",
    "delattr(self, 'mission')": "self.mission is read-only",
    "def f():\n    self.mission = 1": "line 3: self.mission is read-only",
    "self.turn_left = 1": "self.turn_left is a primitive",
    "Agent.seen = {}": "attributes of class Agent must not be assigned; keep values on self",
    "Agent.seen[1] = 2": "attributes of class Agent must not be assigned",
    "Agent.count += 1": "attributes of class Agent must not be assigned",
    "type(self).seen = {}": "attributes of class Agent must not be assigned",
    "self.__class__.seen = {}": "the attribute __class__ is not available",
    "setattr(Agent, 'seen', 1)": "attributes of class Agent must not be assigned",
    "setattr(type(self), 'seen', 1)": "attributes of class Agent must not be assigned",
}

HARMLESS = [
    "x = [] if self.inventory is None else self.inventory.split()\nprint(f'{x!r:>{10}}', '{0} {1[0]}'.format(x, 'ab'))",
    "t = '{} {}'\nif self.inventory:\n    t = '{:>3} {0.real}'\nx = t.format(1, 2)\nt: str = '{}'\nf = t.format",
    "for action in ('turn_left', 'move_forward'):\n    x = getattr(self, action)()\n"
    "x = [getattr(self, a)() for a in ['pickup', 'drop']]\ny = getattr(self, 'toggle' if x else 'drop')()",
    "NAMES = ('seen', 'tried')\nfor name in NAMES:\n    if not hasattr(self, name): setattr(self, name, 1)",
    "from random import Random, random, shuffle\nx = Random(7), random()\nshuffle([])\nrng: Random = Random(x=0)",
    "import numpy as np\nnp.random.seed(0)\nx = np.random.rand() + np.random.default_rng(seed=self.row()).random()",
    "import numpy as np\nrng = np.random.Generator(np.random.PCG64(1))\nx = np.random.RandomState(seed=5).randint(3)",
    "from enum import Enum, IntEnum\nPhase = Enum('Phase', 'SEEK OPEN')\nTurn = IntEnum('Turn', ['LEFT', 'RIGHT'])\n"
    "Way = Enum('Way', {'EAST': (0, 1)}, module='go')\nx = Phase(1), Phase['SEEK'], isinstance(x, (Enum, int))\n"
    "class Auto(str, Enum):\n    A = 'a'\nkind: type[Enum] = Auto\nx = Auto('a')",
    "x = type(self.row) is type(None) or isinstance(x, type) or type(x) == tuple\nKinds = dict[str, type[int]]\n"
    "names = set(map(type, x)), sorted(x, key=type)\ny = type(self)(1, 2), type(x)([1])\ndef f(t: type) -> type: ...",
    "errors, node = [], x\ntry:\n    x = 1\nexcept Exception as e:\n    print(f'{e}', str(e), e.args)\n    raise\n"
    "y = node.obj",
    "self.obj = self.target = x\ntry:\n    x = 1\nexcept KeyError as e:\n    self.error = e\ny = self.obj",
    "open, dir, id, input, help, exit = [], 1, 2, 3, 4, 5\nopen.append((dir, id, input, help, exit))",
    "for dir in range(4):\n    x = [vars for vars in range(dir)]",
    "def open(cell):\n    return cell\nx = open((1, 2))",
    "memory = getattr(self, '_memory', None)\nif not hasattr(self, 'seen'):\n    self.seen = set()\n"
    "setattr(self, 'n', 1)",
    "self._grid = self.full_grid.copy()\nself._grid[0, 0] = 'x'\nself._grid.fill('y')\ndel self._grid",
    "grid = self.full_grid.astype(object)\ngrid[0][0] = None\ngrid.sort()",
    "parts = self.mission.partition(' ') + self.full_grid[0, 0].partition(' ')",
    "node.f_score, node.f_cost, node.co_ordinates = 1, 2, 3",
    "class Node:\n    __slots__ = ('row', 'inventory')\n    def __init__(self, row):\n        self.row = row\n"
    "        self.inventory = None\n    def __lt__(self, other):\n        return self.row < other.row\n"
    "    def __hash__(self):\n        return hash(self.row)\n    __repr__ = __str__ = lambda self: type(self).__name__",
    "from dataclasses import dataclass, field\n@dataclass(order=True, frozen=True)\nclass Node:\n    id: int\n"
    "    dir: str = 'East'\n    path: list = field(default_factory=list, compare=False)\n"
    "    def __post_init__(self):\n        super().__init__()",
    "from enum import Enum, auto\nclass Phase(Enum):\n    SEEK = auto()\n    OPEN = auto()\nphase = Phase.SEEK",
    "from collections import namedtuple\nPose = namedtuple('Pose', 'row col')\n"
    "class Place(namedtuple('P', 'a b')): pass",
    "from typing import NamedTuple, Generic, TypeVar\nT = TypeVar('T')\nclass Box(Generic[T]): pass\n"
    "class P(NamedTuple):\n    row: int",
    "try:\n    x = 1 / 0\nexcept (ValueError, ZeroDivisionError) as error:\n"
    "    print(error.__class__.__name__, error)\nfinally:\n    pass",
    "import queue\nfrontier = queue.PriorityQueue()\nfrontier.put((0, 1))",
    "queue = [1]\nrandom = copy = string = queue\nqueue.append(random)",
    "import heapq as hq, itertools, math\nhq.heappush([], (math.inf, next(itertools.count())))",
    "import numpy as np\nx = np.char.startswith(self.full_grid, 'door')\nrng = np.random.default_rng(0)\n"
    "y = np.argwhere(x & np.isin(self.full_grid, ['a'])).tolist()\nz: np.ndarray = np.linalg.norm(np.array(y))",
    "import numpy.random\nimport collections.abc\nx = numpy.random.rand() + numpy.pi\ny = collections.abc.Sized",
    "from numpy.random import default_rng\nfrom collections.abc import Generator, Iterable",
    "match self.current_dir.split():\n    case ['East' | 'West' as d, *rest]: pass\n    case {'a': 1, **more}: pass\n"
    "    case str(real=x) | Node(x, y=_): pass\n    case _ if (n := len(self.seen)) > 1: pass",
    "n = 0\ndef visit(cell: tuple[int, int], seen=set(), depth=float('inf'), at=n) -> 'list[int]':\n"
    "    nonlocal n\n    n += 1\n    yield from visit(cell)",
    "cost = lambda cell, r=self.row(): abs(cell[0] - r)",
    "import functools\n@functools.lru_cache(maxsize=None)\ndef f(n): return n\n"
    "@functools.wraps(f)\ndef g(*a, **k): return f(*a)",
    "def log(f): return f\n@log\ndef g(): yield 0\nyield from g()",
    "with np.errstate(divide='ignore'):\n    x = np.log(0)",
    "self.__visited = {}\nx = self.__visited.setdefault(1, [])",
    "x = {**{}, 'a': [*range(3)]}\ny = {k: v for k, v in x.items()}\nassert isinstance(x, (int, np.integer)), 'no'",
    "text = '__start__'\ncame_from = {'__root__': None, 'mro of code': 1}",
    "Agent.helper(self)\ntype(self).helper(self)\nx = type(self).__name__",
    "while True:\n    try:\n        yield 1\n    except GeneratorExit:\n        raise\n    break",
    "global_plan = None\nreturn_to = self.start_position",
]
