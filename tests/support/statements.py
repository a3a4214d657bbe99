"""Statements in a process of their own that need not load anything first: a program of :mod:`tests.support.forked`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support import forked


def run(statements: str, *arguments: str, cwd: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """Run them with these arguments, as ``python -c`` does."""
    return forked.run(cwd, [statements, *arguments], env, __name__)


def main() -> None:
    """Run the first argument."""
    del sys.argv[0]
    exec(sys.argv[0], {"__name__": "__main__"})  # noqa: S102 - what a test wants
