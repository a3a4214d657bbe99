"""What is shipped, what is locked, and what is said about licences."""

from __future__ import annotations

import os
import re
import subprocess
import tomllib
import zipfile
from configparser import ConfigParser
from importlib.metadata import requires
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

import spca
from scripts.wheel import APPLICATIONS
from tests.support.installing import ROOT, built, copy_tracked, pinned_extras, pins, tracked

PACKAGES = ("spca", "gridworld", "robot_bridge", "explorer")
LOCKS = ("requirements.txt", "requirements/robot.txt", "requirements/dev.txt")
ALIASES = {"model_interface.py", "evaluation_harness.py"}
"""Names for scripts in a checkout; installed, they are found in ``gridworld``."""


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[<>=!~\[; ]", requirement, maxsplit=1)[0]) for requirement in requirements}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_tracked(tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def wheel(tree: Path) -> zipfile.ZipFile:
    left = tree / "build" / "lib" / "spca" / "of_an_earlier_version.py"
    left.parent.mkdir(parents=True)
    left.touch()
    return zipfile.ZipFile(built("wheel", tree))


def test_wheel_holds_packages_only(wheel: zipfile.ZipFile) -> None:
    folders = {name.split("/")[0] for name in wheel.namelist()}
    known = {*PACKAGES, f"sense_plan_code_act-{spca.__version__}.dist-info"}
    assert "spca" in folders
    assert folders <= known


def test_wheel_holds_every_file_of_its_packages(wheel: zipfile.ZipFile) -> None:
    packaged = set(tracked(*PACKAGES))
    assert not packaged - set(wheel.namelist())
    assert "spca/py.typed" in wheel.namelist()
    info = f"sense_plan_code_act-{spca.__version__}.dist-info"
    extra = {name for name in wheel.namelist() if not name.startswith(f"{info}/")} - packaged
    assert extra == {f"spca/_apps/{name}" for name in APPLICATIONS}


def test_wheel_holds_every_application_but_the_aliases() -> None:
    top = {path for path in tracked() if "/" not in path and path.endswith((".py", ".json"))}
    assert top - ALIASES == set(APPLICATIONS)
    assert top >= ALIASES


def test_wheel_has_the_commands(wheel: zipfile.ZipFile) -> None:
    info = f"sense_plan_code_act-{spca.__version__}.dist-info"
    commands = ConfigParser()
    commands.read_string(wheel.read(f"{info}/entry_points.txt").decode())
    assert dict(commands["console_scripts"]) == {
        "spca": "spca.__main__:main",
        "multinet-run-eval": "spca.__main__:evaluate",
    }


@pytest.mark.long
def test_wheel_of_a_source_distribution_is_the_same(tree: Path, wheel: zipfile.ZipFile) -> None:
    unpacked = tree / "unpacked"
    unpacked.mkdir()
    subprocess.run(["tar", "-xf", built("sdist", tree)], cwd=unpacked, check=True)
    (folder,) = unpacked.iterdir()
    again = zipfile.ZipFile(built("wheel", folder))
    assert {each.filename: each.CRC for each in again.infolist() if not each.filename.endswith("/RECORD")} == {
        each.filename: each.CRC for each in wheel.infolist() if not each.filename.endswith("/RECORD")
    }


def test_wheel_states_licence_and_version(wheel: zipfile.ZipFile) -> None:
    info = f"sense_plan_code_act-{spca.__version__}.dist-info"
    metadata = wheel.read(f"{info}/METADATA").decode()
    assert f"\nVersion: {spca.__version__}\n" in metadata
    assert "\nLicense-Expression: MIT\n" in metadata
    assert "\nRequires-Python: <3.14,>=3.11\n" in metadata
    assert {f"{info}/licenses/LICENSE", f"{info}/licenses/THIRD_PARTY.md"} <= set(wheel.namelist())


@pytest.mark.parametrize("lock", LOCKS)
def test_every_pin_has_hashes_and_no_host(lock: str) -> None:
    text = re.sub(r"^-r .*", "", (ROOT / lock).read_text(encoding="utf-8"))
    statements = [part for part in re.sub(r"#.*", "", text).replace("\\\n", " ").splitlines() if part.strip()]
    assert len(statements) == len(pins(lock))
    assert all(re.fullmatch(r"\S+==\S+(\s+--hash=sha256:[0-9a-f]{64})+\s*", part) for part in statements)


def test_locks_hold_what_the_project_asks_for() -> None:
    runtime, robot, dev = (pins(lock) for lock in LOCKS)
    assert names(project()["project"]["dependencies"]) <= runtime.keys()
    assert names(project()["project"]["optional-dependencies"]["robot"]) <= robot.keys() | runtime.keys()
    assert names(project()["dependency-groups"]["dev"]) <= dev.keys() | robot.keys() | runtime.keys()


@pytest.mark.parametrize(("smaller", "larger"), list(pairwise(LOCKS)))
def test_every_lock_begins_with_the_one_before_and_repeats_nothing_of_it(smaller: str, larger: str) -> None:
    first = (ROOT / larger).read_text(encoding="utf-8").partition("\n")[0]
    assert first == f"-r {os.path.relpath(ROOT / smaller, (ROOT / larger).parent)}"
    assert not pins(smaller).keys() & pins(larger).keys()


def test_pins_name_the_extras_that_packages_ask_for() -> None:
    """Before 23.3 pip looks for the newest ``google-auth[requests]`` where the pin says ``google-auth``."""
    extras = {name: found for lock in LOCKS for name, found in pinned_extras(lock).items()}
    wanted = [Requirement(line) for name in extras for line in requires(name) or []]
    met = [each for each in wanted if each.marker is None or each.marker.evaluate({"extra": ""})]
    missing = {(normal(each.name), extra) for each in met for extra in each.extras - extras[normal(each.name)]}
    assert any(each.extras for each in met)
    assert not missing


def test_third_party_lists_every_runtime_package_with_its_licence() -> None:
    text = (ROOT / "THIRD_PARTY.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", text, re.MULTILINE)
    assert {normal(name) for name, _ in rows} == set(pins("requirements.txt"))
    assert len(rows) == len(pins("requirements.txt"))
    assert all(licence.strip() for _, licence in rows)


def test_example_of_settings_holds_no_secret() -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    keys = dict(re.findall(r"^#?(\w+_KEY)=(.*)$", text, re.MULTILINE))
    assert keys.keys() >= {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"}
    assert set(keys.values()) == {""}


def test_citation_says_what_the_project_says() -> None:
    cited = dict(re.findall(r"^([a-z-]+): +(\S+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE))
    assert cited["cff-version"] == "1.2.0"
    assert (cited["version"], cited["license"]) == (spca.__version__, project()["project"]["license"])
