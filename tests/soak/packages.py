"""The examples as packages of strangers, in an empty environment that pip fills from the package index.

``scripts/soak packages [--only NAME]``: builds our wheel, installs it with its dependencies and Ray into a new
environment, installs each example, and calls the installed command: a run, one that is killed and resumed, replay,
report, evaluation by two workers and on Ray, and each refusal. ``tests/e2e/test_packages.py`` does the same without the
index and Ray.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.support.installing import Environment, built, copy_tracked
from tests.support.strangers.packaged import EXAMPLES, Trial, copy_example


def make_environment(folder: Path) -> Environment:
    """Return a new environment with our wheel, what it asks for, and Ray."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    made = Environment(folder / "venv")
    wheel = built("wheel", copy_tracked(folder / "source"))
    made.pip("install", "--quiet", f"{wheel}[ray]")
    return made


def soak() -> int:
    """Run the gate; 1 if an example fails."""
    parser = argparse.ArgumentParser(prog="scripts/soak packages", description=__doc__)
    parser.add_argument("--count", type=int, default=1)
    parser.add_argument("--only", choices=tuple(EXAMPLES))
    options = parser.parse_args()
    failed = 0
    folder = Path(tempfile.mkdtemp())
    try:
        begun = time.monotonic()
        environment = make_environment(folder)
        print(f"installed in {time.monotonic() - begun:.0f} s", flush=True)
        for number in range(options.count):
            for name in [options.only] if options.only else EXAMPLES:
                failed += not try_example(environment, folder / f"{number}-{name}", name)
    finally:
        shutil.rmtree(folder)
    print(f"examples that failed: {failed}")
    return 1 if failed else 0


def try_example(environment: Environment, folder: Path, name: str) -> bool:
    """Return whether everything works with an example."""
    home = folder / "home"
    home.mkdir(parents=True)
    trial = Trial(environment, home, copy_example(name, folder))
    begun = time.monotonic()
    try:
        trial.install()
        run = trial.learn()
        trial.check_kill(run)
        trial.check_run(run)
        trial.check_ray(run)
        trial.check_refusals(run)
    except AssertionError as error:
        print(f"{name}: {error}")
        return False
    print(f"{name}: as told, in {time.monotonic() - begun:.0f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(soak())
