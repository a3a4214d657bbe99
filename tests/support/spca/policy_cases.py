"""Cases for the static policy: bodies of methods that it refuses, with part of its words, and bodies that must pass.

A body begins in line 2 of its patch; the violation is there unless the words name a line.
"""

from __future__ import annotations

from pathlib import Path

from spca.errors import PatchError
from tests.support.bodies.grid import check_patch

INITIAL = (Path(__file__).parents[3] / "agent.py").read_text()


def method(body: str) -> str:
    """A patch with one method."""
    return "def go(self, agent):\n" + indented(body) + "    yield 0\n"


def indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())


def refusal(patch: str) -> str:
    """What the policy says of a patch to the initial agent, "" when it lets it through."""
    try:
        check_patch(patch, INITIAL)
    except PatchError as error:
        return str(error)
    return ""


MISSING = {
    "open('/etc/passwd').read()": "open is not available: generated code has no files",
    "f = open": "open is not available",
    "list(map(eval, ['1']))": "eval is not available",
    "x = {'f': exec}": "exec is not available",
    "def f(x=compile): return x": "compile is not available",
    "print(file=open('f', 'w'))": "open is not available",
    "globals()['x'] = 1": "globals is not available: use constants above the methods",
    "input()": "input is not available",
    "breakpoint()": "breakpoint is not available",
    "exit()": "exit is not available: return from the method",
    "__import__('os')": "__import__ is not available: write an import statement",
    "\uff4fpen('f')": "open is not available",
    "import os": "module os is not available: generated code has no files, processes or environment",
    "import os.path as p": "module os.path is not available",
    "from os import environ": "module os is not available",
    "import sys": "module sys is not available: for a largest number use math.inf",
    "import time": "module time is not available: count steps instead: there is no clock",
    "import numpy.testing": "module numpy.testing is not available: use numpy itself",
    "import socket": "module socket is not available: available are abc, bisect,",
    "from numpy import load": "numpy.load is not available: generated code has no files",
    "import numpy as np\nx = np.flatter(x)": (
        "line 3: numpy.flatter is not available: it is not among the public names of numpy"
    ),
    "x = np.testing.assert_equal": "numpy.testing is not available",
    "x = np.f2py.compile": "numpy.f2py is not available",
    "import numpy as np\nx = np.float(x)": "line 3: numpy.float is not available: use float",
    "x = np.linalg.inverse(x)": "numpy.linalg.inverse is not available",
    "from . import x": "relative and star imports",
    "from random import _os": "random._os is not available",
    "from queue import time": "queue.time is not available",
    "from heapq import heappeek": "heapq.heappeek is not available",
    "from random import SystemRandom": "random.SystemRandom is not available: use random.Random(0)",
    "import enum\nenum.sys.modules": "line 3: enum.sys is not available",
    "import random as r\nr._os.environ": "line 3: random._os is not available",
    "import collections\ncollections.abc.sys": "line 3: collections.abc.sys is not available",
    "import numpy.random as r\nr.mtrand": "line 3: numpy.random.mtrand is not available",
    "from numpy import random as r\nr._pickle": "line 3: numpy.random._pickle is not available",
    "import numpy\nnumpy.lib.npyio.load": "line 3: numpy.lib.npyio is not available",
}
HIDDEN = {
    "getattr(self, 'a' + 'b')": "getattr needs a name that the source spells out",
    "getattr(self, f'turn_{x}')()": "getattr needs a name that the source spells out",
    "getattr(self, 'turn_{}'.format(x))()": "getattr needs a name that the source spells out",
    "global np\nimport random as np": "global np is not possible: keep values on self",
    "async def f(): pass": "async code cannot run here; write plain generator methods",
    "async def f():\n    async for x in y: await x": "line 3: async code cannot run here",
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
    "def f():\n    self.mission = 1": "line 3: self.mission is read-only",
    "self.turn_left = 1": "self.turn_left is a primitive",
    "Agent.seen = {}": "attributes of class Agent must not be assigned; keep values on self",
    "Agent.seen[1] = 2": "attributes of class Agent must not be assigned",
    "Agent.count += 1": "attributes of class Agent must not be assigned",
    "type(self).seen = {}": "attributes of class Agent must not be assigned",
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
    "x = 'at {}'.format(1), vars(self), getattr(self, x, None)\ny = self.__class__.__dict__, e.obj.mro",
    "try:\n    x = 1\nexcept* ValueError as errors:\n    self.errors = errors",
    "from operator import attrgetter\nfrom dataclasses import fields, make_dataclass\nt = type('T', (), {})",
    "x = np.ma.masked\nm = np\nimport numpy.polynomial as p\nx = p.Polynomial([1])",
    "def f(load, np): return np.load(load) if load else np.anything",
    "class Here:\n    def __init__(self): self.inventory, self.mission = None, ''\n"
    "    def add(self): self.previous_actions.pop()",
]
