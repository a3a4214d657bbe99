"""The project as people install it: built from what git tracks, in an environment with what a run needs and no more."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
_BUILD: Final = "import sys; from setuptools import build_meta; print(getattr(build_meta, sys.argv[1])('.'))"
_GUARD: Final = ROOT / "tests" / "guard"


def tracked(*names: str) -> list[str]:
    """Files that git tracks, all of them or those in some folders."""
    listed = subprocess.run(["git", "ls-files", *names], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [path for path in listed.splitlines() if (ROOT / path).is_file()]


def copy_tracked(folder: Path) -> Path:
    """Copy what git tracks; returns ``folder``."""
    for path in tracked():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / path, folder / path)
    return folder


def built(kind: str, folder: Path) -> Path:
    """Build the ``wheel``, ``sdist`` or ``editable`` wheel of a copy in that copy, without network."""
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, f"build_{kind}"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.splitlines()[-1]


def pins(lock: str) -> dict[str, str]:
    """Versions by the names of a lock's packages."""
    return {name: version for name, _, version in _read_pins(lock)}


def pinned_extras(lock: str) -> dict[str, set[str]]:
    """Extras by the names of a lock's packages."""
    return {name: set(filter(None, extras.split(","))) for name, extras, _ in _read_pins(lock)}


def _read_pins(lock: str) -> list[tuple[str, str, str]]:
    text = (ROOT / lock).read_text(encoding="utf-8")
    return re.findall(r"^([a-z0-9-]+)(?:\[([a-z0-9,-]+)\])?==(\S+) \\$", text, re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment of its own."""

    path: Path

    @property
    def site(self) -> Path:
        """Where its packages lie."""
        (site,) = self.path.glob("lib/python3*/site-packages")
        return site

    def run(
        self, cwd: Path, program: str, *arguments: object, is_guarded: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run one of its programs in a folder, with nothing in the environment but the guard against the network.

        Ray's parts reach each other by the machine's own address, which is not loopback, so that it is not guarded.
        """
        return subprocess.run(
            [str(self.path / "bin" / program), *map(str, arguments)],
            cwd=cwd,
            env=self.variables() if is_guarded else {"PATH": os.defpath},
            capture_output=True,
            text=True,
            check=False,
        )

    def variables(self) -> dict[str, str]:
        """Return the environment variables of its programs."""
        refused = os.environ.get("TESTS_REFUSED", "")
        return {"PATH": os.defpath, "PYTHONPATH": str(_GUARD), "TESTS_REFUSED": refused}

    def install(self, wheel: Path) -> None:
        """Install a wheel whose dependencies are there."""
        self.pip("install", "--no-index", "--no-deps", str(wheel))

    def pip(self, *arguments: str) -> str:
        """What the pip of the tests prints when it works on this environment without network."""
        command = [sys.executable, "-m", "pip", "--python", str(self.path / "bin" / "python"), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


def environment(path: Path) -> Environment:
    """Make an environment with the packages of ``requirements.txt``, linked from those that are installed here."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(path)], check=True)
    made = Environment(path)
    for name in pins("requirements.txt"):
        package = metadata.distribution(name)
        tops = {file.parts[0] for file in package.files or ()} - {"..", "__pycache__"}
        for top in tops:
            if not (made.site / top).exists():  # google is shared by several
                (made.site / top).symlink_to(str(package.locate_file(top)))
    return made
