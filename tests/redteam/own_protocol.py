"""Frames that the worker's own code did not write: forged, torn, endless.

A frame is kind (u8), sequence number (u32), length (u32) and payload, on descriptor 4; see
``spca.sandbox.process.wire``. The first view that is to be answered has number 1.
"""

from __future__ import annotations

from tests.redteam.attack import Attack, Control, Sign, attacks

_ABOVE = """# above:
import os
import struct
PRINTED, ASKED, DONE, FAULT, READY = 0xE2, 0xE3, 0xE4, 0xE5, 0xE1
def frame(kind, sequence, payload=b"", length=None):
    return struct.pack("<BII", kind, sequence, len(payload) if length is None else length) + payload
def asked(sequence, code, position=0, line=1):
    return frame(ASKED, sequence, struct.pack("<BII", code, position, line))
def fault(sequence, status, position, frames, message):
    told = b"".join(struct.pack("<IB", line, len(name)) + name for name, line in frames)
    return frame(FAULT, sequence, struct.pack("<BiB", status, position, len(frames)) + told + message)
def send(data):
    while data:
        try:
            data = data[os.write(4, data):]
        except BlockingIOError:
            break
# body:
"""

_FRAMES = r"""
## forge_two_answers: out
send(asked(1, 2) + asked(1, 2))
yield 2

## forge_answers_ahead: out
send(b"".join(asked(number, 2) for number in range(1, 2000)))
yield 0

## forge_answer_to_nothing: out
send(asked(0, 2))
yield 2

## forge_next_number: out
send(asked(2, 2))
yield 2

## forge_code: out
send(asked(1, 7))

## forge_code_255: out
send(asked(1, 255))

## forge_position: out
send(asked(1, 2, position=1))

## forge_position_beyond: out
send(asked(1, 2, position=0xFFFFFFFF))

## forge_line: out
send(asked(1, 2, line=0xFFFFFFFF))

## forge_short_answer: out
send(frame(ASKED, 1, b"\x02"))

## forge_long_answer: out
send(frame(ASKED, 1, b"\x02" * 4000))

## forge_done_with_payload: out
send(frame(DONE, 1, b"\x00" * 100))

## forge_done_and_more: out
send(frame(DONE, 1) + asked(1, 2))

## forge_ready_twice: out
send(frame(READY, 0))

## forge_negative_length: out
send(frame(PRINTED, 0, b"x", length=0xFFFFFFFF) + b"x" * 100000)

## forge_length_beyond: out
send(frame(FAULT, 1, b"x" * 4097))

## forge_unknown_kind: out
send(frame(0x00, 1, b"x" * 100))

## forge_kind_of_host: out
send(frame(0xD1, 0, b"x"))

## forge_nothing_then_exit: out
send(frame(ASKED, 1, b"\x02" * 9)[:5])
os._exit(0)

## forge_printed_flood: out
while True: send(frame(PRINTED, 0, b"x" * 4096))

## forge_printed_empty_flood: out
while True: send(frame(PRINTED, 0) * 999)

## forge_printed_one_by_one: out
while True: send(frame(PRINTED, 0, b"\x1b") * 999)

## forge_printed_too_much: text
send(frame(PRINTED, 0, b"x" * 4096) * 4)
raise RuntimeError("x")

## forge_printed_odd: text
send(frame(PRINTED, 0, b"\x1b[2J\x00\xff\xfe\xe2\x80\xae\xed\xa0\x80</error>\r" * 50))
raise RuntimeError("x")

## forge_printed_to_another: text
send(frame(PRINTED, 77, b"x" * 10))
raise RuntimeError("x")

## forge_fault_odd: text
send(fault(1, 0, 0, [(b"\x1b[2J</error>", 1), (b"\xff" * 255, 2)], b"\x1b[31m\x00\xe2\x80\xae\xff</error>"))

## forge_fault_status: text
send(fault(1, 9, 0, [], b"x"))

## forge_fault_position: text
send(fault(1, 0, 0x7FFFFFFF, [], b"x"))

## forge_fault_negative: text
send(fault(1, 0, -0x80000000, [], b"x"))

## forge_fault_frames: text
send(frame(FAULT, 1, struct.pack("<BiB", 0, 0, 255) + b"\xff" * 60))

## forge_fault_lines: text
send(fault(1, 0, 0, [(b"attack", 0xFFFFFFFF), (b"attack", 0), (b"x" * 99, 1)] * 60, b"x" * 500))

## forge_fault_long: text
send(fault(1, 0, 0, [(b"attack", 3)] * 255, b"\xe2\x82\xac" * 800))

## forge_silence: hang
send(frame(ASKED, 1, b"\x02" * 9)[:5])
while True: pass

## forge_slow_bytes: hang
import time
for byte in frame(PRINTED, 0, b"x" * 4000):
    send(bytes([byte]))
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until: pass

## forge_slow_prints: hang
import time
while True:
    send(frame(PRINTED, 0))
    until = time.perf_counter() + 0.05
    while time.perf_counter() < until: pass

## forge_crash_report: text
send(b'Fatal Python error: \x1b[2J\xe2\x80\xae</error>\nFile "agent_tmp.py", line 3 in \x1b]0;x\x07</error>\n' * 20)
os._exit(1)

## forge_place: text
send(b'File "agent_tmp.py", line 3 in \x1b[2J\x07</error>\n' * 20)
while True: pass

## forge_place_beyond: text
send(b'File "agent_tmp.py", line 9999999 in x\nFile "agent_tmp.py", line 0 in y\n' * 400)
while True: pass

## forge_place_when_asked: text
import ctypes
handler = b'\n  File "agent_tmp.py", line 3 in \x1b[2J\xe2\x80\xae\x9b</error>\n'
everything = (ctypes.c_ulong * 16)(*[2**64 - 1] * 16)
ctypes.CDLL(None).pthread_sigmask(0, everything, None)
send(frame(PRINTED, 0, length=4096) + handler * 30)
while True: pass

## forge_own_loop: forge
number = 0
while number < 400:
    number += 1
    send(asked(number, 2))
    got = os.read(3, 1 << 16)
    if not got: os._exit(0)

## steal_frames: forge
import sys
found = sys._getframe()
while found:
    for name, value in list(found.f_locals.items()) + list(found.f_globals.items()):
        if isinstance(value, int) and 2 < value < 64 and name.isupper():
            try: os.write(value, asked(1, 2))
            except OSError: pass
    found = found.f_back
yield 2

## patched_wire: garbage
import sys
wire = sys.modules.get("spca.sandbox.process.wire") or __import__("spca.sandbox.process.wire", fromlist=["x"])
kept = wire.pack_answer
wire.pack_answer = lambda answer, sequence: asked(sequence, 200)
yield "x"
wire.pack_answer = kept

## patched_writer: garbage
import sys
framing = sys.modules.get("spca.sandbox.process.framing") or __import__("spca.sandbox.process.framing", fromlist=["x"])
kept = framing.write_bytes
framing.write_bytes = lambda data: kept(data * 2)
yield "x"
framing.write_bytes = kept
"""


def _with_head(text: str) -> str:
    """Each attack with the functions that make frames above its class."""
    lines = text.splitlines(keepends=True)
    return "".join(line + _ABOVE if line.startswith("## ") else line for line in lines)


_SENT = Control((Sign.SENT,))
_NAMES = [line.split()[1].rstrip(":") for line in _FRAMES.splitlines() if line.startswith("## forge")]

PROTOCOL: tuple[Attack, ...] = attacks(_with_head(_FRAMES), dict.fromkeys(_NAMES, _SENT))
