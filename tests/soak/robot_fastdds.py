"""Messages to a participant of Fast DDS in C++ and back, byte for byte: what most robots with ROS 2 run.

``scripts/soak robot-fastdds [--count N] [--seed S] [--record]``: N random messages (default 500) each of Twist
(reliable), LaserScan and Odometry (best effort). The peer decodes them with the code that ``fastddsgen`` generates,
prints some fields, encodes them again and sends them back. Needs ``apt install fastddsgen libfastrtps-dev g++``.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_bridge.contracts import Odometry, Pose, Scan, Twist
from robot_bridge.ros import types
from robot_bridge.ros.dds import Bus, wait_until
from robot_bridge.ros.messages import odometry_message, scan_message, twist_message
from tests.soak.common import ROOT, SCRATCH, conclude, gate_parser
from tests.support.robot_bridge.loopback import CONFIGURATION, own_domain

_PEER = ROOT / "tests" / "soak" / "fastdds" / "peer.cpp"
_NEEDED = {"fastddsgen": "fastddsgen", "g++": "g++"}
_HEADER = Path("/usr/include/fastdds/dds/domain/DomainParticipant.hpp")
_IDL = {
    "float32": "float", "float64": "double", "int8": "int8", "uint8": "uint8", "int16": "short",
    "uint16": "unsigned short", "int32": "long", "uint32": "unsigned long", "int64": "long long",
    "uint64": "unsigned long long", "bool": "boolean", "string": "string",
}  # fmt: skip


@dataclass
class Tally:
    """Of one type."""

    sent: int = 0
    lost: int = 0
    wrong: list[str] = field(default_factory=list)
    milliseconds: list[float] = field(default_factory=list)


def idl(names: list[str]) -> str:
    """Definitions of types and all they are made of, from those that ROS 2 has."""
    done: dict[str, str] = {}
    for name in names:
        _define(name, done)
    return "\n".join(done.values())


def _define(name: str, done: dict[str, str]) -> None:
    if name in done:
        return
    lines = []
    for member, (kind, value) in types.typestore().fielddefs[name][1]:
        inner: Any = value if kind.name in {"NAME", "BASE"} else value[0][1]
        if isinstance(inner, str):
            _define(inner, done)
            element = f"{inner.replace('/msg/', '::msg::dds_::')}_"
        else:
            element = _IDL[inner[0]]
        if kind.name == "SEQUENCE":
            element = f"sequence<{element}>"
        size = f"[{value[1]}]" if kind.name == "ARRAY" else ""
        lines.append(f"{element} {member}{size};")
    package, _, short = name.split("/")
    body = " ".join(lines)
    done[name] = f"module {package} {{ module msg {{ module dds_ {{ struct {short}_ {{ {body} }}; }}; }}; }};"


def built(folder: Path) -> Path:
    """The peer, compiled.

    Raises:
        CalledProcessError: it cannot be.
    """
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "messages.idl").write_text(idl([types.TWIST, types.SCAN, types.ODOMETRY]), encoding="utf-8")
    subprocess.run(["fastddsgen", "-replace", "-d", ".", "messages.idl"], cwd=folder, check=True, capture_output=True)
    sources = [str(_PEER), "messages.cxx", "messagesPubSubTypes.cxx"]
    libraries = ["-lfastrtps", "-lfastcdr", "-lpthread"]
    subprocess.run(["g++", "-std=c++14", "-O1", "-I.", *sources, "-o", "peer", *libraries], cwd=folder, check=True)
    return folder / "peer"


@contextmanager
def running(peer: Path, domain: int) -> Iterator[subprocess.Popen[str]]:
    """The peer, until the block ends."""
    with subprocess.Popen([str(peer), str(domain)], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield process
        finally:
            process.kill()


def random_twist(rng: np.random.Generator) -> tuple[Any, str]:
    """A message and what the peer prints of it."""
    linear, angular = rng.normal(size=2)
    return twist_message(Twist(linear, angular)), f"Twist {linear:.17g} {angular:.17g}"


def random_scan(rng: np.random.Generator) -> tuple[Any, str]:
    """Of up to 720 beams, a tenth of them infinite."""
    ranges = rng.uniform(0.05, 12, rng.integers(1, 721)).astype(np.float32)
    ranges[rng.random(ranges.size) < 0.1] = np.inf
    stamp = float(rng.integers(1, 2**31 - 1))
    message = scan_message(Scan(stamp, ranges, -np.pi, 2 * np.pi / ranges.size, 0.05, 12.0))
    return message, f"LaserScan laser {int(stamp)} 0 {ranges.size} {ranges[-1]:.9g}"


def random_odometry(rng: np.random.Generator) -> tuple[Any, str]:
    """Anywhere."""
    x, y, heading, linear, angular = rng.normal(size=5)
    message = odometry_message(Odometry(1.5, Pose(x, y, heading), Twist(linear, angular)))
    w = message.pose.pose.orientation.w
    return message, f"Odometry base_link {y:.17g} {w:.17g} {angular:.17g}"


KINDS: dict[str, tuple[str, bool, Callable[[np.random.Generator], tuple[Any, str]]]] = {
    "twist": (types.TWIST, True, random_twist),
    "scan": (types.SCAN, False, random_scan),
    "odometry": (types.ODOMETRY, False, random_odometry),
}


def exchanged(bus: Bus, peer: subprocess.Popen[str], name: str, count: int, rng: np.random.Generator) -> Tally:
    """Every message is answered before the next is sent."""
    kind, reliable, make = KINDS[name]
    out = bus.publisher(f"/{name}_in", kind, reliable=reliable)
    back = bus.subscription(f"/{name}_out", kind, reliable=reliable)
    assert wait_until(lambda: out.listeners and back.publishers, 20), f"{name}: the peer is not found"
    assert peer.stdout is not None
    tally, unanswered = Tally(), set[str]()
    for _ in range(count):
        message, expected = make(rng)
        begun = time.perf_counter()
        out.send(message)
        tally.sent += 1
        found = _answer(bus, back)
        if found is None:
            tally.lost += 1
            unanswered.add(expected)
            continue
        tally.milliseconds.append(1000 * (time.perf_counter() - begun))
        shown = peer.stdout.readline().strip()
        while shown in unanswered:
            shown = peer.stdout.readline().strip()
        if types.encode(found) != types.encode(message) or shown != expected:
            tally.wrong.append(f"{name}: sent {expected}, the peer saw {shown}")
    return tally


def _answer(bus: Bus, back: Any) -> Any:
    end = time.monotonic() + 1.0
    while time.monotonic() < end:
        bus.wait(0.1)
        if found := back.take():
            return found[-1]
    return None


def table(tallies: dict[str, Tally]) -> str:
    """As Markdown."""
    lines = ["| type | messages | lost | wrong | round trip, median ms | p99 ms |", "|---" * 6 + "|"]
    for name, tally in tallies.items():
        times = sorted(tally.milliseconds) or [float("nan")]
        p99 = times[min(len(times) - 1, int(0.99 * len(times)))]
        median = statistics.median(times)
        lines.append(
            f"| {KINDS[name][0]} | {tally.sent:,} | {tally.lost} | {len(tally.wrong)} | {median:.2f} | {p99:.2f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """Run the exchange; 1 when something is wrong or a reliable message is lost, 2 where programs are missing."""
    parser = gate_parser("robot-fastdds", __doc__)
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    missing = [package for program, package in _NEEDED.items() if not shutil.which(program)]
    if missing or not _HEADER.is_file():
        print("Fast DDS is missing: apt install fastddsgen libfastrtps-dev g++", file=sys.stderr)
        return 2
    peer, rng = built(SCRATCH / "robot_fastdds"), np.random.default_rng(options.seed)
    os.environ["CYCLONEDDS_URI"] = CONFIGURATION
    with own_domain() as domain, running(peer, domain) as process, Bus(domain) as bus:
        tallies = {name: exchanged(bus, process, name, options.count, rng) for name in KINDS}
    wrong = [line for tally in tallies.values() for line in tally.wrong]
    wrong += [f"{name}: {tally.lost} lost" for name, tally in tallies.items() if tally.lost and KINDS[name][1]]
    flags = f"--count {options.count} --seed {options.seed}"
    return conclude("robot-fastdds", "Fast DDS", flags, table(tallies), wrong, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
