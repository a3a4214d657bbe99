"""Repetitions of whole systems that would keep every run of the tests waiting: the cases that are marked ``long``.

``scripts/soak long [--count N] [PYTEST ARGUMENT...]``: all of them N times (default 1), in three processes: many wait.
"""

from __future__ import annotations

import argparse
import sys

import pytest

PROCESSES = ("--numprocesses", "3", "--dist", "worksteal")


def main() -> int:
    """Run them; the exit code of the first round that fails, else 0."""
    parser = argparse.ArgumentParser(prog="scripts/soak long", description=__doc__)
    parser.add_argument("--count", type=int, default=1, help="rounds")
    options, chosen = parser.parse_known_args()
    codes = (int(pytest.main(["-m", "long", *PROCESSES, *chosen])) for _ in range(options.count))
    return next((code for code in codes if code), 0)


if __name__ == "__main__":
    sys.exit(main())
