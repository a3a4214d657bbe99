"""DDS that stays on this machine, and processes that end with the test."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
CONFIGURATION = (
    '<General><Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
    '<MaxAutoParticipantIndex>12</MaxAutoParticipantIndex><Peers><Peer Address="127.0.0.1"/></Peers></Discovery>'
)
_DOMAINS = range(1, 61)
"""Their ports lie below those that the system hands out."""


@contextmanager
def own_domain() -> Iterator[int]:
    """A ROS domain that no other test run on this machine uses meanwhile."""
    for domain in _DOMAINS:
        try:
            lock = (Path(tempfile.gettempdir()) / f"spca-test-domain-{domain}").open("w")
        except OSError:  # of another user
            continue
        with lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                continue
            yield domain
            return
    raise RuntimeError("every ROS domain is in use")


@contextmanager
def started(module: str, *arguments: str, wait_for: str = "") -> Iterator[subprocess.Popen[str]]:
    """``python -m module``, killed at the end if it still runs; ``wait_for`` is the line that it begins with."""
    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"CYCLONEDDS_URI": CONFIGURATION},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            if wait_for:
                assert process.stdout is not None
                assert process.stdout.readline().strip() == wait_for
            yield process
        finally:
            process.kill()
