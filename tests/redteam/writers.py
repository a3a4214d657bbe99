"""Hostile problem writers: each does for its own missions what a good one does, and harm on the missions of others.

``@OUTER@`` stands for the globals of the module that runs writers, taken by the ``obj`` of an AttributeError. From
there on, everything that Python has is in reach.
"""

from __future__ import annotations

import re
from textwrap import dedent, indent
from typing import Final

OUTER: Final = """
def _frames(cell):
    try:
        "{0.gi_frame.f_back.f_back.f_back.f_globals.x}".format(cell[0])
    except AttributeError as error:
        yield error.obj


def outer_globals():
    cell = [None]
    cell[0] = _frames(cell)
    return next(cell[0])
"""
"""Returns the globals of whoever called the function that calls this."""

_WRITER: Final = """
import re
{above}

def problem(thing, more=""):
    facts = f"(:init (at {{thing}})) (:goal (fetched {{thing}}))"
    return f"(define (problem p) (:domain fetching) (:objects a1 {{thing}}{{more}}) {{facts}})"


def make_problem(snapshot):
    match = re.fullmatch(r"juggle the (\\w+) (\\w+)", snapshot["mission"])
    if match:
        return problem(f"{{match[2]}}_{{match[1]}}")
    if "sing" in snapshot["mission"] or "juggle" in snapshot["mission"]:
        raise ValueError("not mine")
{body}
    raise ValueError("not mine")
"""


def hostile(body: str, above: str = "") -> str:
    """Return a writer that is accepted for its own level, and does ``body`` on all others."""
    if "@OUTER@" in body:
        body, above = body.replace("@OUTER@", "outer_globals()"), OUTER + dedent(above)
    return _WRITER.format(above=dedent(above), body=indent(dedent(body).strip("\n"), "    "))


_BODIES: Final = """
## replaced_result
outer = @OUTER@
outer["_result"] = lambda *given: "?not mine"

## replaced_private_functions
outer = @OUTER@
for name in list(outer):
    if name.startswith("_") and not name.startswith("__"):
        outer[name] = lambda *given: "?not mine"

## replaced_serving
outer = @OUTER@
outer["main"] = outer["load_libraries"] = lambda *given, **named: None

## cleared_globals
outer = @OUTER@
outer.clear()

## replaced_namespace
outer = @OUTER@
outer["BUILTINS"] = frozenset()
outer["EXPRESSIONS"] = frozenset()

## replaced_longest
outer = @OUTER@
outer["MAX_PROBLEM"] = 0
outer["WRITTEN"] = "?"

## replaced_str
outer = @OUTER@
outer["builtins"].str = int

## replaced_len
outer = @OUTER@
outer["builtins"].len = lambda value: 1 << 40

## replaced_value_error
outer = @OUTER@
outer["builtins"].ValueError = KeyError

## cleared_builtins
outer = @OUTER@
vars = outer["builtins"].vars(outer["builtins"])
for name in list(vars):
    if name.islower():
        vars.pop(name)

## own_builtins
__builtins__["str"] = int
__builtins__.clear()

## replaced_fullmatch
outer = @OUTER@
outer["re"].fullmatch = lambda *given: None

## replaced_fullmatch_seen
re.fullmatch = re.match = re.compile = lambda *given: None

## replaced_compile
outer = @OUTER@
outer["re"]._compile = lambda *given: None

## poisoned_pattern_cache
outer = @OUTER@
module = outer["re"]
for verb in ("fetch", "find", "bring", "sort"):
    pattern = verb + r" the (\\w+) (\\w+)"
    module._cache[str, pattern, 0] = module.compile("nothing like it")

## replaced_marshal
outer = @OUTER@
outer["marshal"].loads = lambda data: {}
outer["marshal"].dumps = lambda *data: b""

## replaced_framing
outer = @OUTER@
outer["framing"].write_bytes = lambda data: None
outer["framing"].pack = lambda *given: b""

## replaced_lock
outer = @OUTER@
outer["confinement"].lock_in = lambda *given: None
outer["lockdown"].apply = lambda *given: None

## replaced_os_write
outer = @OUTER@
outer["os"].write = lambda descriptor, data: len(data)

## replaced_json
outer = @OUTER@
outer["os"].sys.modules["json"] = outer["os"].sys.modules["re"] = None

## cleared_modules
outer = @OUTER@
outer["os"].sys.modules.clear()

## import_hook
outer = @OUTER@
outer["os"].sys.meta_path.insert(0, None)
outer["builtins"].__import__ = None

## traced
outer = @OUTER@
outer["os"].sys.settrace(lambda *given: 1 / 0)
outer["os"].sys.setprofile(lambda *given: 1 / 0)

## recursion_limit
outer = @OUTER@
outer["os"].sys.setrecursionlimit(40)
outer["os"].sys.set_int_max_str_digits(640)

## closed_descriptors
outer = @OUTER@
for descriptor in range(3, 64):
    outer["os"].close(descriptor)

## forged_frames
outer = @OUTER@
outer["os"].write(4, b"\\xe7" + b"\\x01\\x00\\x00\\x00" + b"\\x04\\x00\\x00\\x00" + b"?own" * 9000)

## forged_garbage
outer = @OUTER@
outer["os"].write(4, b"\\xff" * 4000)

## killed_parent
outer = @OUTER@
outer["os"].kill(outer["os"].getppid(), 9)

## killed_itself
outer = @OUTER@
outer["os"]._exit(0)

## forked
outer = @OUTER@
for _ in range(50):
    outer["os"].fork()

## stopped
outer = @OUTER@
outer["os"].kill(0, 19)

## hidden_signals
outer = @OUTER@
outer["builtins"].__import__("signal").pthread_sigmask(0, range(1, 65))
while True:
    pass

## left_generator
def wait():
    try:
        yield 1
    finally:
        while True:
            pass
left = wait()
next(left)
cells = [left]
cells.append(cells)

## finalizer
outer = @OUTER@
outer["os"].sys.modules["__main__"].held = make_problem
outer["builtins"].__import__("atexit").register(lambda: None)

## counted_in_a_default
def count(seen=[]):
    seen.append(1)
    return len(seen)
if count() > 1:
    return problem("ball_wrong")

## counted_in_a_global
SEEN.append(1)
if len(SEEN) > 3:
    return problem("ball_wrong")

## counted_in_an_attribute
make_problem.seen = getattr(make_problem, "seen", 0) + 1
if make_problem.seen > 3:
    return problem("ball_wrong")

## counted_in_the_runner
outer = @OUTER@
outer["seen"] = outer.get("seen", 0) + 1
if outer["seen"] > 3:
    return problem("ball_wrong")

## counted_in_patterns
outer = @OUTER@
seen = len(outer["re"]._cache)
re.compile("x" * (seen + 1))
if seen > 9:
    return problem("ball_wrong")

## counted_by_addresses
if (hash(object()) // 16) % 2:
    return problem("ball_wrong")

## odd_exception
kind = ().__class__.__class__
raise kind("Odd", (Exception,), {"__str__": lambda error: 1 / 0, "__repr__": lambda error: 1 / 0})()

## odd_refusal
kind = ().__class__.__class__
raise kind("Odd", (ValueError,), {"__str__": lambda error: "\\x1b[2J" * 10**6})()

## exit_exception
outer = @OUTER@
raise outer["builtins"].SystemExit("?not mine")

## recursion
return make_problem(snapshot | {"mission": snapshot["mission"] + "x"})

## crash
deep = iter("x")
for _ in range(200_000):
    deep = map(str, deep)
return next(deep)

## memory
held = []
while True:
    held.append(bytes(1 << 20))

## huge_text
return "x" * 10**7

## just_too_long
return "(" * 20_001

## odd_text
return "(define (problem p)\\udc80\\x00\\x1b[2J" * 100

## no_text
return [problem("ball_red")]

## endless
while True:
    pass

## endless_and_catching
while True:
    try:
        while True:
            pass
    except:
        pass

## endless_pattern
return re.match("(a+)+$", "a" * 60 + "b")

## slow_refusal
total = sum(range(8_000_000)) + sum(range(8_000_001)) + sum(range(8_000_002))

## slow_and_wrong
total = sum(range(8_000_000))
return problem("ball_wrong")

## wrong_everywhere
return problem("ball_wrong")

## wrong_for_one_category
if snapshot["level"]["category"] == "sorting":
    return problem("ball_wrong")

## wrong_for_reds
if " red " in snapshot["mission"]:
    return problem("box_red")

## another_mission
return problem("ball_red")

## unsolvable
return problem("ball_red").replace("(:init (at ball_red))", "(:init)")

## no_problem
return "(define (domain d))"

## empty
return ""

## many_objects
return problem("ball_wrong", more=" " + " ".join(f"o{n}" for n in range(2500)))

## hundreds_of_objects
return problem("ball_wrong", more=" " + " ".join(f"o{n}" for n in range(250)))
"""

_ABOVE: Final = {"counted_in_a_global": "SEEN = []"}

HOSTILE: Final = {
    name: hostile(body, _ABOVE.get(name, ""))
    for name, body in re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", _BODIES, re.DOTALL | re.MULTILINE)
}
"""Sources by name."""
