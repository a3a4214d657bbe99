"""The doctor on this host, on hosts that lack something, and on hosts that only say that they have it."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from spca.errors import SandboxError
from spca.sandbox.doctor.examination import NO_LANDLOCK, REFUSED, STRICT, Check, Report, examine, render
from spca.sandbox.doctor.probes import PROBES
from spca.sandbox.kernel import landlock
from spca.sandbox.kernel.lockdown import ALL_LAYERS, Layer
from spca.sandbox.process.client import Zygote
from tests.support import forked
from tests.support.spca.sandboxing import children_of, unmeasured
from tests.support.tiers import long

ROOT = Path(__file__).parents[4]
HERE = STRICT if landlock.abi() else NO_LANDLOCK
LANDLOCK_CREATE, LANDLOCK_RESTRICT, SECCOMP, PRCTL = 444, 446, 317, 157
SETRESUID, SETRESGID, CAPSET, PRLIMIT64 = 117, 119, 126, 302
EPERM, ENOSYS, EOPNOTSUPP = 1, 38, 95

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root has a user to give up")
needs_landlock = pytest.mark.skipif(not landlock.abi(), reason="needs Landlock")

EXAMINE = """
import json, sys
from contextlib import closing
from spca.sandbox.doctor import examination as doctor
from spca.sandbox.process.client import Zygote
from tests.support.spca.kernel import forbid

answers = json.loads(sys.argv[1])
if answers:
    forbid({int(number): answer for number, answer in answers.items()})
with closing(Zygote()) as zygote:
    report = doctor.examine(zygote)
failed = [(check.name, check.probed, check.seen) for check in report.checks if not check.ok]
print(json.dumps([report.level, int(report.layers), report.refusal, failed]))
"""


@pytest.fixture(scope="module")
def zygote() -> Iterator[Zygote]:
    with closing(Zygote()) as running:
        running.await_ready()
        yield running


@pytest.fixture(scope="module")
def report(zygote: Zygote) -> Report:
    return examine(zygote)


def examined(answers: Mapping[int, int], *prefix: str) -> tuple[str, int, str, dict[str, str]]:
    """Level, layers, refusal and what failed (probed: seen) on a host whose kernel answers some calls otherwise."""
    if prefix:
        command = [*prefix, "-c", EXAMINE, json.dumps(answers)]
        done = subprocess.run(command, cwd=ROOT, env=unmeasured(), capture_output=True, text=True, check=False)
    else:
        done = forked.run_statements(EXAMINE, json.dumps(answers), cwd=ROOT, env=unmeasured())
    assert (done.returncode, done.stderr) == (0, "")
    level, layers, refusal, failed = json.loads(done.stdout)
    return level, layers, refusal, {probed: seen for _, probed, seen in failed}


@pytest.mark.long
def test_this_host_holds(report: Report) -> None:
    assert (report.level, report.refusal) == (HERE, "")
    assert report.layers == (ALL_LAYERS if HERE == STRICT else ALL_LAYERS & ~Layer.LANDLOCK)
    report.raise_for_refusal()
    assert {check.layer for check in report.checks} == set(range(7))
    assert [check.layer for check in report.checks] == sorted(check.layer for check in report.checks)


def test_every_attempt_was_made_and_was_refused_by_its_layers(report: Report) -> None:
    seen = {check.probed: check.seen for check in report.checks if check.name == "kernel"}
    assert list(seen) == [probe.title for probe in PROBES]
    if os.geteuid() == 0 and landlock.abi() >= 6:
        for probe in PROBES:
            assert set(seen[probe.title].removeprefix("refused by ").split(", ")) == probe.refused_by


@pytest.mark.long
def test_nothing_is_left_behind(zygote: Zygote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    examine(zygote)

    def descriptors() -> tuple[set[str], set[str]]:
        return set(os.listdir("/proc/self/fd")), set(os.listdir(f"/proc/{zygote.pid}/fd"))

    before = descriptors()
    examine(zygote)
    assert descriptors() == before
    assert not children_of(zygote.pid)
    assert not list(tmp_path.iterdir())


def test_the_report_is_readable(report: Report) -> None:
    lines = render(report).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1] == f"Level: {HERE}" or HERE == NO_LANDLOCK
    assert sum(line.startswith("ok ") for line in lines) == sum(check.ok for check in report.checks)
    assert not any(line.startswith("FAIL") for line in lines) or HERE == NO_LANDLOCK


@needs_root
def test_an_ordinary_user_is_walled_in_too() -> None:
    level, layers, refusal, failed = examined({}, sys.executable, "-m", "tests.redteam.unprivileged", sys.executable)
    assert (level, layers, refusal, failed) == (HERE, *examined({})[1:])


@pytest.mark.parametrize("answer", [ENOSYS, long(EOPNOTSUPP), long(EPERM)])
def test_a_host_without_landlock_is_usable_and_says_so(answer: int) -> None:
    level, layers, refusal, failed = examined({LANDLOCK_CREATE: answer})
    assert (level, layers, refusal) == (NO_LANDLOCK, int(ALL_LAYERS & ~Layer.LANDLOCK), "")
    assert list(failed) == ["put it on a worker"]
    assert failed["put it on a worker"].startswith("landlock: the kernel has none")


@pytest.mark.parametrize(
    ("answers", "layer", "words"),
    [
        ({SECCOMP: ENOSYS}, "seccomp", "CONFIG_SECCOMP_FILTER"),
        ({SECCOMP: EPERM}, "seccomp", "permits seccomp(2)"),
        ({CAPSET: EPERM}, "user", "ordinary user"),
        ({PRLIMIT64: EPERM}, "rlimits", "rlimits: "),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_a_host_without_another_layer_is_refused(answers: dict[int, int], layer: str, words: str) -> None:
    level, layers, refusal, _ = examined(answers)
    assert (level, layers) == (REFUSED, 0)
    assert refusal.startswith(f"layer 3 ({layer}), put it on a worker: {layer}: ")
    assert words in refusal
    assert "\n" not in refusal


def test_a_host_without_prctl_is_refused() -> None:
    assert examined({PRCTL: EPERM})[0] == REFUSED


@pytest.mark.parametrize(
    ("answers", "attempt", "layer"),
    [
        pytest.param({SECCOMP: 0}, "run machine code", "seccomp", id="seccomp"),
        pytest.param({LANDLOCK_RESTRICT: 0}, "read a file", "landlock", id="landlock", marks=needs_landlock),
        pytest.param({SETRESUID: 0, SETRESGID: 0, CAPSET: 0}, "read a file", "user", id="user", marks=needs_root),
        pytest.param({PRLIMIT64: 0}, "exceed its memory", "rlimits", id="rlimits"),
    ],
)
def test_a_kernel_that_only_says_so_is_found_out(answers: dict[int, int], attempt: str, layer: str) -> None:
    level, layers, refusal, failed = examined(answers)
    assert (level, layers) == (REFUSED, 0)
    assert refusal
    assert layer in failed[attempt].removeprefix("not refused by ").split(", ")


@pytest.mark.skipif(landlock.abi() < 6, reason="needs a Landlock that keeps signals in")
def test_a_victim_that_one_worker_has_killed_is_not_held_against_the_others() -> None:
    failed = examined({LANDLOCK_RESTRICT: 0})[3]
    assert failed["kill another process"] == "not refused by landlock"


def test_levels() -> None:
    names = ("secrets", "gate", "process", "user", "rlimits", "seccomp", "kernel", "protocol", "budgets", "truth")
    for name, without_landlock in itertools.product((None, *names), (False, True)):
        checks = [Check(3, each, "try it", "seen", each != name) for each in names]
        checks.append(Check(3, "landlock", "try it", "seen", not without_landlock))
        report = Report(tuple(checks))
        if name:
            assert (report.level, report.layers) == (REFUSED, Layer(0))
            assert report.refusal.startswith(f"layer 3 ({name}), try it: seen")
            with pytest.raises(SandboxError, match="cannot be sandboxed here: layer 3"):
                report.raise_for_refusal()
        elif without_landlock:
            assert (report.level, report.layers, report.refusal) == (NO_LANDLOCK, ALL_LAYERS & ~Layer.LANDLOCK, "")
        else:
            assert (report.level, report.layers, report.refusal) == (STRICT, ALL_LAYERS, "")


def test_what_was_not_checked_is_refused() -> None:
    report = Report(())
    assert (report.level, report.layers) == (REFUSED, Layer(0))
    with pytest.raises(SandboxError, match="nothing was checked"):
        report.raise_for_refusal()


def test_a_zygote_that_is_gone_cannot_be_examined() -> None:
    gone = Zygote()
    gone.close()
    with pytest.raises(SandboxError):
        examine(gone)
