"""The suites of ``spca.testing``: each finds what breaks a promise. pytest runs them as a stranger does."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.spca.doubles import ROOT

HEAD = """
import json
import pytest
import spca
from dataclasses import replace
from spca.contracts import LevelSpec
from spca.errors import UnsupportedFormError
from spca.llm.providers.base import Finish, Form, Response, Usage
from tests.support.inprocess import InProcessExecutor
from spca.testing import PolicySuite, ProviderSuite, WorldSuite
from tests.spca.act.test_gymnasium_interface import Lake, OnceLake, make_level

class Base:
    @pytest.fixture
    def make(self):
        return lambda: self.world_class(make_level(), 1, InProcessExecutor())
"""

FOUND_BY = {
    "Forgetful": "test_a_checkpoint_is_restored_wherever_the_world_has_got_to",
    "Credulous": "test_a_checkpoint_that_was_tampered_with_is_refused",
    "Restless": "test_sensing_changes_nothing",
    "Boastful": "test_a_plan_that_leaves_the_mission_open_has_not_reached_the_goal",
    "Patient": "test_standing_still_is_stuck_after_the_bodys_patience",
    "Mortal": "test_the_world_says_whether_it_restores",
    "Defeatist": "test_the_solution_completes_the_mission",
    "Optimist": "test_a_loss_ends_the_episode_without_success",
    "Unseen": "test_what_is_shown_can_be_drawn",
    "Odd": "test_a_snapshot_is_json",
}
"""A test of the suite that finds the fault of each faulty world."""

WORLDS = """
class Whole(Lake): pass
class Forgetful(Lake):
    def restore(self, checkpoint): self._reset()
class Credulous(Lake):
    def restore(self, checkpoint):
        self._reset()
        for code in checkpoint.primitives[:8]:
            if code < 4 and not self.over: self.step(code)
class Restless(Lake):
    def sense(self):
        self.step(3)
        return super().sense()
class Boastful(Lake):
    def run_sim(self, plan, agent): return replace(super().run_sim(plan, agent), trace=())
class Patient(Lake):
    def _state(self): return tuple(self.previous_actions)
class Mortal(OnceLake): pass
class Defeatist(Lake):
    def is_success(self, reward, terminated): return False
class Optimist(Lake):
    def is_success(self, reward, terminated): return terminated
class Unseen(Lake):
    def frame(self): raise KeyError("no paint")
class Odd(Lake):
    def _describe_shown(self): return {"place": {1, 2}}
""" + "".join(
    f"class Test{name}(Base, WorldSuite):\n    world_class = {name}\n    idle = 3\n"
    "    solution = (1, 1, 2, 2, 1, 2)\n    loss = (2, 1)\n"
    for name in ("Whole", *FOUND_BY)
)

PROVIDERS = """
class Whole:
    def __init__(self, target): self.model = target.model
    def complete(self, request):
        if request.schema and request.form is not Form.TEXT: raise UnsupportedFormError("words only")
        return Response("yes", Usage(1, 2))
class Texts(Whole):
    def complete(self, request): return "yes"
class Miscounts(Whole):
    def complete(self, request): return Response("yes", Usage(-1, 2))
class Silent(Whole):
    def complete(self, request): return Response("")
class Calls(Whole):
    def complete(self, request): return Response("yes", finish=Finish.TOOL_CALL)
class Crashes(Whole):
    def complete(self, request):
        if request.schema: raise KeyError("schema")
        return Response("yes")
class Formless(Whole):
    def complete(self, request): return Response("yes")
class Once(Whole):
    count = 0
    def complete(self, request):
        self.count += 1
        return 1 // (self.count < 2) and Response("yes")
""" + "".join(
    f"class Test{name}(ProviderSuite):\n    @pytest.fixture\n    def make(self): return {name}\n"
    for name in ("Whole", "Texts", "Miscounts", "Silent", "Calls", "Crashes", "Formless", "Once")
)

POLICIES = """
class Whole:
    usage = {}
    def reset(self, shown, mission): self.count = 0
    def act(self, shown):
        self.count += 1
        return self.count % 4
class Vandal(Whole):
    def act(self, shown):
        shown["place"] = None
        return 0
class Wild(Whole):
    def act(self, shown): return 4
class Lingering(Whole):
    count = 0
    def reset(self, shown, mission): pass
class Floating(Whole):
    def act(self, shown): return 1.0
class Secret(Whole):
    usage = {"cost": {1}}
class Shared(Whole):
    def reset(self, shown, mission): Shared.total = 0
    def act(self, shown):
        Shared.total += 1
        return Shared.total % 4
class Greedy(Whole):
    def __init__(self): self.usage = {"requests": 0}
    def act(self, shown):
        self.usage["requests"] += 1
        return super().act(shown)
class Burglar(Whole):
    def reset(self, shown, mission):
        super().reset(shown, mission)
        shown.clear()
class World:
    @pytest.fixture
    def make_world(self): return lambda: Lake(make_level(), 1, InProcessExecutor())
""" + "".join(
    f"class Test{name}(World, PolicySuite):\n    @pytest.fixture\n    def make(self): return {name}\n"
    for name in ("Whole", "Vandal", "Wild", "Lingering", "Floating", "Secret", "Shared", "Greedy", "Burglar")
)


def run_suite(tmp_path: Path, text: str, *chosen: str) -> tuple[set[str], set[str]]:
    """Run the chosen tests of a suite, or all; return the classes with a failed test, and those that only passed."""
    path = tmp_path / "test_stranger.py"
    path.write_text(HEAD + text, encoding="utf-8")
    options = ("-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--import-mode=importlib", "-rA", "-c", "/dev/null")
    tests = [f"{path}::Test{name}" for name in chosen] or [str(path)]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), *tests],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    failed = set(re.findall(r"^FAILED \S+::Test(\w+)::", done.stdout, re.MULTILINE))
    passed = set(re.findall(r"^PASSED \S+::Test(\w+)::", done.stdout, re.MULTILINE))
    assert passed, done.stdout + done.stderr
    return failed, passed - failed


def test_a_suite_of_worlds_finds_each_fault_where_it_should(tmp_path: Path) -> None:
    finding = [f"{name}::{test}" for name, test in FOUND_BY.items()]
    failed, passed = run_suite(tmp_path, WORLDS, "Whole", *finding)
    assert passed == {"Whole"}
    assert failed == FOUND_BY.keys()


@pytest.mark.parametrize("text", [PROVIDERS, POLICIES], ids=["provider", "policy"])
def test_a_suite_passes_what_keeps_its_promises_and_nothing_else(tmp_path: Path, text: str) -> None:
    failed, passed = run_suite(tmp_path, text)
    tested = set(re.findall(r"^class Test(\w+)\(", text, re.MULTILINE))
    assert passed == {"Whole"}
    assert failed == tested - {"Whole"}


def test_the_suites_are_listed_without_pytest() -> None:
    program = "import sys, spca.testing; assert 'pytest' not in sys.modules; print(*spca.testing.__all__)"
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ExecutorSuite", "PolicySuite", "ProviderSuite", "WorldSuite"]
