"""The entry points in scripts/, run as a user would in a small checkout without network."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import distribution
from pathlib import Path

import pytest

from tests.support.processes import Process
from tests.support.waiting import becomes

ROOT = Path(__file__).resolve().parents[1]
PIP = str(distribution("pip").locate_file("pip"))
UNREACHABLE = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}
ONE_PACKAGE = "thing==1 --hash=sha256:" + "0" * 64 + "\n"
BLIND = """#!/bin/sh
case "$2" in *ensurepip*) exit 1 ;; esac
exec {python} "$@"
"""
QUICK = """#!/bin/sh
case "$2" in venv) {python} -m venv --without-pip "$3" && ln -s {pip} "$3"/lib/python3.*/site-packages/; exit ;; esac
exec {python} "$@"
"""
RECORDING = """#!/bin/sh
[ "$1" = -m ] || exit 0
echo "$2${{3:+ $3}}" >>{calls}
case "$2" in {failing}) echo "$2 fails"; exit 4 ;; esac
"""
SLOW = """#!/bin/sh
case "$2" in venv) : >"$3/.setup/reached"; exec sleep 600 ;; esac
exec {python} "$@"
"""


class Checkout:
    """A folder with the scripts, empty locks and a program that prints its arguments."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT / "scripts", root / "scripts")
        (root / "requirements.txt").write_text("# nothing\n")
        (root / "main.py").write_text("import sys\nprint(sys.prefix, *sys.argv[1:], sep='|')\nsys.exit(3)\n")
        self.quick = self.wrapper("quick", QUICK)

    @property
    def venv(self) -> Path:
        return self.root / ".venv"

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
        return {**kept, **UNREACHABLE, "PYTHON": self.quick, **variables}

    def run(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(self.root / "scripts" / "run"), *arguments],
            cwd=self.root.parent,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
        )

    def wrapper(self, name: str, text: str) -> str:
        path = self.root / name
        path.write_text(text.format(python=shlex.quote(sys.executable), pip=shlex.quote(PIP)))
        path.chmod(0o755)
        return str(path)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    root = tmp_path / "a checkout"
    root.mkdir()
    return Checkout(root)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    """The one line after which a script gave up."""
    assert done.returncode == 2
    assert done.stdout == ""
    *before, line = done.stderr.splitlines()
    assert all("setting up" in each for each in before)
    return line


@pytest.mark.long
def test_first_run_sets_up_and_passes_on_arguments_and_exit_code(checkout: Checkout) -> None:
    first = checkout.run("--only", "a b", PYTHON=sys.executable)
    assert first.stdout == f"{checkout.venv}|--only|a b\n"
    assert first.returncode == 3
    assert len(first.stderr.splitlines()) == 1

    second = checkout.run()
    assert (second.stdout, second.stderr) == (f"{checkout.venv}\n", "")


@pytest.mark.long
def test_two_at_once_set_up_once(checkout: Checkout) -> None:
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(checkout.run, ["one", "two"]))
    assert [each.stdout for each in done] == [f"{checkout.venv}|one\n", f"{checkout.venv}|two\n"]
    assert sum(each.stderr.count("setting up") for each in done) == 1


def test_interrupted_set_up_is_started_afresh(checkout: Checkout) -> None:
    slow = checkout.environment(PYTHON=checkout.wrapper("slow", SLOW))
    with Process(["sh", str(checkout.root / "scripts" / "run")], env=slow, stderr=subprocess.DEVNULL) as process:
        reached = checkout.venv / ".setup" / "reached"
        assert becomes(lambda: reached.exists() or process.poll() is not None)
        assert process.poll() is None
        (checkout.venv / "leftover").touch()
        os.killpg(process.pid, signal.SIGKILL)

    assert checkout.run("again").stdout == f"{checkout.venv}|again\n"
    assert not (checkout.venv / "leftover").exists()


def test_unreachable_index_is_one_line(checkout: Checkout) -> None:
    (checkout.root / "requirements.txt").write_text(ONE_PACKAGE)
    line = refusal(checkout.run())
    assert line.startswith("The Python package index could not be reached")
    assert str(checkout.venv / ".setup" / "log.txt") in line


def test_package_with_another_hash_is_refused_in_one_line(checkout: Checkout) -> None:
    (checkout.root / "requirements.txt").write_text(ONE_PACKAGE)
    with zipfile.ZipFile(checkout.root / "thing-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("thing.py", "")
    line = refusal(checkout.run(PIP_NO_INDEX="1", PIP_FIND_LINKS=checkout.root.as_uri()))
    assert line.startswith("pip could not install requirements.txt: ERROR: THESE PACKAGES DO NOT MATCH THE HASHES")


def test_missing_venv_module_names_the_package(checkout: Checkout) -> None:
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    line = refusal(checkout.run(PYTHON=checkout.wrapper("blind", BLIND)))
    assert line.endswith(f"apt install python{version}-venv")


def test_missing_venv_module_of_the_system_python(checkout: Checkout) -> None:
    folder = checkout.root / "bin"
    folder.mkdir()
    checkout.wrapper("bin/python3", BLIND)
    for version in ("3.11", "3.12", "3.13"):
        checkout.wrapper(f"bin/python{version}", "#!/bin/sh\nexit 1\n")
    line = refusal(checkout.run(PYTHON="", PATH=f"{folder}:/usr/bin:/bin"))
    assert line.endswith("apt install python3-venv")


def test_unsupported_python_is_refused(checkout: Checkout) -> None:
    line = refusal(checkout.run(PYTHON=checkout.wrapper("old", "#!/bin/sh\nexit 1\n")))
    assert line.endswith("is not a Python 3.11, 3.12 or 3.13.")


def test_foreign_environment_is_left_alone(checkout: Checkout) -> None:
    checkout.venv.mkdir()
    (checkout.venv / "pyvenv.cfg").write_text("home = /nowhere\n")
    assert "move it away" in refusal(checkout.run())
    assert (checkout.venv / "pyvenv.cfg").is_file()


class RecordedTest:
    """``scripts/test`` where every program only writes down that it was called."""

    def __init__(self, checkout: Checkout, failing: str = "nothing") -> None:
        self._checkout = checkout
        self._calls = checkout.root / "calls.txt"
        (checkout.root / "requirements").mkdir()
        for name in ("robot", "dev"):
            (checkout.root / "requirements" / f"{name}.txt").touch()
        locks = checkout.venv / ".setup"
        shutil.copytree(checkout.root / "requirements", locks / "requirements")
        shutil.copy(checkout.root / "requirements.txt", locks)
        python = checkout.venv / "bin" / "python"
        python.parent.mkdir()
        python.write_text(RECORDING.format(calls=shlex.quote(str(self._calls)), failing=failing))
        python.chmod(0o755)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        script = str(self._checkout.root / "scripts" / "test")
        env = self._checkout.environment(PYTHON="")
        return subprocess.run(["sh", script, *arguments], env=env, capture_output=True, text=True, check=False)

    @property
    def calls(self) -> list[str]:
        return sorted(self._calls.read_text().splitlines())


def test_a_path_is_tested_alone(checkout: Checkout) -> None:
    recorded = RecordedTest(checkout)
    assert recorded.run("tests/test_scripts.py", "-x").returncode == 0
    assert recorded.calls == ["pytest tests/test_scripts.py"]


def test_without_arguments_lint_types_and_tests_all_run(checkout: Checkout) -> None:
    recorded = RecordedTest(checkout)
    assert recorded.run().returncode == 0
    assert recorded.calls == ["mypy", "pytest --numprocesses", "ruff check", "ruff format"]


@pytest.mark.parametrize(
    ("failing", "code", "called"), [("ruff", 1, {"ruff"}), ("mypy", 1, {"pytest"}), ("pytest", 4, {"mypy"})]
)
def test_what_fails_is_shown_and_fails_the_whole(failing: str, code: int, called: set[str], checkout: Checkout) -> None:
    recorded = RecordedTest(checkout, failing)
    done = recorded.run()
    assert done.returncode == code
    assert f"{failing} fails" in done.stdout
    assert called <= {call.split()[0] for call in recorded.calls}
    assert failing != "ruff" or len(recorded.calls) == 2  # nothing else begins


@pytest.mark.parametrize(("script", "folder"), [("soak", "soak"), ("bench", "bench")])
def test_unknown_name_lists_the_known_ones(script: str, folder: str) -> None:
    done = subprocess.run(["sh", str(ROOT / "scripts" / script), "nope"], capture_output=True, text=True, check=False)
    known = [
        path.stem.replace("_", "-") for path in (ROOT / "tests" / folder).glob("*.py") if "__main__" in path.read_text()
    ]
    assert done.returncode == 2
    assert all(name in done.stderr for name in known)
