"""The examples as packages beside our wheel, in an environment without the checkout: no file of ours is changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.installing import Environment, built, copy_tracked, environment
from tests.support.strangers.packaged import EXAMPLES, Trial, copy_example

pytestmark = [pytest.mark.timeout(600), pytest.mark.long]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built("wheel", copy_tracked(tmp_path_factory.mktemp("source")))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Environment:
    made = environment(tmp_path_factory.mktemp("installed") / "venv")
    made.install(wheel)
    return made


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_used_like_a_package_of_a_stranger(installed: Environment, name: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    trial = Trial(installed, home, copy_example(name, tmp_path))
    trial.install()
    assert name in trial.call("worlds")
    run = trial.learn()
    trial.check_kill(run)
    trial.check_run(run)
    trial.check_refusals(run)
