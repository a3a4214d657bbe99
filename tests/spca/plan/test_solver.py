"""The solver as its users see it: results, time limit, and that no process outlives its cause."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spca.common.errors import SettingsError
from spca.contracts import PlannedAction, SolveStatus
from spca.plan.engines import AUTOMATIC
from spca.plan.pddl import MAX_CHARS, MAX_DEPTH
from spca.plan.solver import Solver, available_engines
from tests.support.processes import Process
from tests.support.tiers import long
from tests.support.waiting import AGES, PATIENCE, becomes

ROOT = Path(__file__).parents[3]
DOMAIN = """(define (domain Rooms)
  (:requirements :strips :typing)
  (:types agent key door)
  (:constants A1 - agent)
  (:predicates (holding ?a - agent ?k - key) (opened ?d - door) (fits ?k - key ?d - door))
  (:action Pick-Up_Obj :parameters (?a - agent ?k - key) :precondition (and) :effect (and (holding ?a ?k)))
  (:action unlock :parameters (?a - agent ?d - door ?k - key)
    :precondition (and (holding ?a ?k) (fits ?k ?d)) :effect (and (opened ?d))))"""
PROBLEM = """(define (problem p) (:domain rooms)
  (:objects Key_Blue - key door-blue - door)
  (:init (fits key_blue door-blue))
  (:goal (and (opened DOOR-BLUE))))"""
ANOTHER = PROBLEM.replace("_", "-red-")  # not known from before
STEPS = (PlannedAction("pick-up_obj", ("a1", "key_blue")), PlannedAction("unlock", ("a1", "door-blue", "key_blue")))
INSTALLED = [name for name in AUTOMATIC if name in available_engines()]
KILLED = [name for name in INSTALLED if name != "pyperplan-adl"]
"""Engines that go on until they are killed; the other one gives up where a problem has too many ground actions."""
OFTEN_KILLED = [name if name in ("pyperplan", "fast-downward") else long(name) for name in KILLED]
"""One that runs in the child itself and one that starts processes; the others go the same ways."""

# Grounding this takes every engine hours: 50 to the power of 8 instances of one action.
HARD_DOMAIN = """(define (domain hard) (:requirements :strips :typing) (:types t)
  (:predicates (p ?a - t) (q ?a ?b - t) (r))
  (:action a :parameters (?a ?b ?c ?d ?e ?f ?g ?h - t)
    :precondition (and (q ?a ?b) (q ?b ?c) (q ?c ?d) (q ?d ?e) (q ?e ?f) (q ?f ?g) (q ?g ?h)) :effect (and (p ?h)))
  (:action b :parameters (?a ?b - t) :precondition (and) :effect (and (q ?a ?b)))
  (:action c :parameters (?a ?b - t) :precondition (and (p ?a) (p ?b)) :effect (and (r))))"""
HARD_PROBLEM = f"""(define (problem p) (:domain hard) (:objects {" ".join(f"o{i}" for i in range(50))} - t)
  (:init) (:goal (and (r))))"""


@pytest.fixture(scope="module")
def solver() -> Iterator[Solver]:
    with Solver() as shared:
        yield shared


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[str]]]:
    """Lists the living processes that were started, however indirectly, under this test's own TMPDIR; ends them."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    mark = f"TMPDIR={tmp_path}".encode()

    def living() -> list[str]:
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if mark in (folder / "environ").read_bytes() and "State:\tZ" not in (folder / "status").read_text():
                    found.append(f"{folder.name} {(folder / 'cmdline').read_text().replace(chr(0), ' ')}")
            except OSError:
                continue
        return found

    yield living
    for process in living():
        with suppress(ProcessLookupError):
            os.kill(int(process.split()[0]), signal.SIGKILL)


def test_a_plan_carries_the_names_of_the_text(solver: Solver) -> None:
    result = solver.solve(DOMAIN, PROBLEM)
    assert result.solved
    assert result.steps == STEPS
    assert result.engine == "pyperplan"


@pytest.mark.long
def test_the_engine_asked_for_is_used() -> None:
    with Solver("fast-downward-opt") as solver:
        result = solver.solve(DOMAIN, PROBLEM)
    assert (result.status, result.engine, result.steps) == (SolveStatus.SOLVED, "fast-downward-opt", STEPS)


def test_an_engine_that_is_not_installed_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"engine 'lpg' is not installed; installed: pyperplan, "):
        Solver("lpg")


@pytest.mark.parametrize(
    ("domain", "problem", "status", "message"),
    [
        (DOMAIN[:-1], PROBLEM, SolveStatus.PARSE_ERROR, "domain: the '(' on line 1 is never closed"),
        (DOMAIN, PROBLEM + ")", SolveStatus.PARSE_ERROR, "problem: line 4: ')' has no matching"),
        ("", "", SolveStatus.PARSE_ERROR, "domain, line 1, column 1"),
        (DOMAIN, "(" * MAX_DEPTH * 2, SolveStatus.PARSE_ERROR, "problem: line 1: parentheses are nested deeper"),
        (DOMAIN, ";" * MAX_CHARS * 2, SolveStatus.PARSE_ERROR, "problem: it has"),
        (DOMAIN, PROBLEM.replace("opened", "shut"), SolveStatus.PARSE_ERROR, "problem, line 4, column 15"),
        (DOMAIN, PROBLEM.replace("(fits key_blue door-blue)", ""), SolveStatus.UNSOLVABLE, "which needs (fits ...)"),
        (DOMAIN, PROBLEM.replace("(:init", "(:init (opened door-blue)"), SolveStatus.EMPTY_PLAN, "already holds"),
    ],
)
def test_what_is_wrong_is_told(solver: Solver, domain: str, problem: str, status: SolveStatus, message: str) -> None:
    result = solver.solve(domain, problem)
    assert result.status is status
    assert result.steps == ()
    assert message in result.message
    assert "Traceback" not in result.message
    assert tempfile.gettempdir() not in result.message


@settings(max_examples=12)
@given(st.integers(0, len(DOMAIN)), st.integers(0, 40), st.text(alphabet="()?:- \nabz;é\0", max_size=8))
def test_any_damage_gets_an_answer(solver: Solver, at: int, length: int, text: str) -> None:
    result = solver.solve(DOMAIN[:at] + text + DOMAIN[at + length :], PROBLEM)
    assert result.solved == bool(result.steps) == (not result.message)


@pytest.mark.long
def test_the_same_text_gives_the_same_plan(solver: Solver) -> None:
    names = " ".join(f"k{i}" for i in range(9))
    problem = PROBLEM.replace("Key_Blue", names).replace("(fits key_blue", "(fits k4 door-blue) (fits k2")
    with Solver() as other:
        assert other.solve(DOMAIN, problem).steps == solver.solve(DOMAIN, problem).steps


def test_threads_may_share_a_solver(solver: Solver) -> None:
    results = []
    threads = [threading.Thread(target=lambda: results.append(solver.solve(DOMAIN, PROBLEM).steps)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [STEPS] * 4


def rests(solver: Solver, marked: Callable[[], list[str]]) -> bool:
    """Whether nothing runs but the process and its child that waits for the next attempt."""
    processes = dict(line.split(" ", 1) for line in marked())
    server = solver._server
    return (
        len(processes) == 2
        and len(set(processes.values())) == 1
        and server is not None
        and str(server.pid) in processes
    )


@pytest.mark.parametrize("engine", [name if name == "fast-downward" else long(name) for name in KILLED])
def test_the_time_limit_ends_every_engine_and_its_children(engine: str, marked: Callable[[], list[str]]) -> None:
    with Solver(engine, time_limit=1.0) as solver:
        assert becomes(lambda: solver.solve(DOMAIN, PROBLEM).solved), "on a busy machine it may need another try"
        assert becomes(lambda: rests(solver, marked)), marked()
        began, server = time.monotonic(), solver._server
        result = solver.solve(HARD_DOMAIN, HARD_PROBLEM)
        assert 1 <= time.monotonic() - began < PATIENCE
        assert (result.status, result.engine) == (SolveStatus.TIMEOUT, engine)
        assert "limit of 1 s" in result.message
        assert becomes(lambda: rests(solver, marked)), "nothing else is left"
        assert solver._server is server, "the process itself stays warm"
        assert not list(Path(os.environ["TMPDIR"]).glob("spca-solver-*"))
        assert becomes(lambda: solver.solve(DOMAIN, ANOTHER).solved)
    assert marked() == []


def test_one_problem_may_have_less_time_than_the_solver_has() -> None:
    with Solver("pyperplan", time_limit=AGES) as solver:
        result = solver.solve(HARD_DOMAIN, HARD_PROBLEM, 0.2)
        assert result.status is SolveStatus.TIMEOUT
        assert "limit of 0.2 s" in result.message


@pytest.mark.long
def test_an_engine_that_is_too_slow_leaves_time_for_the_next() -> None:
    """With subtypes tamer is out; pyperplan is lost in instances that Fast Downward never considers.

    A third of the shortest limit is enough for Fast Downward, unless the machine is busy.
    """
    domain = HARD_DOMAIN.replace("(:types t)", "(:types t - u)").replace("(r))", "(r) (link ?a ?b - t))", 1)
    domain = domain.replace("precondition (and)", "precondition (and (link ?a ?b))")
    chain = " ".join(f"(link o{i} o{i + 1})" for i in range(49))
    for limit in (4.0, 16.0, 60.0):
        with Solver(time_limit=limit) as solver:
            began = time.monotonic()
            result = solver.solve(domain, HARD_PROBLEM.replace("(:init)", f"(:init {chain})"))
        assert time.monotonic() - began > limit / 3
        if result.solved:
            break
    assert (result.status, result.engine) == (SolveStatus.SOLVED, "fast-downward")


@pytest.mark.parametrize("engine", OFTEN_KILLED)
def test_a_killed_host_leaves_nothing_behind(engine: str, marked: Callable[[], list[str]]) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom spca.plan.solver import Solver\n"
        f"Solver({engine!r}, {AGES}).solve({HARD_DOMAIN!r}, {HARD_PROBLEM!r})"
    )
    with Process([sys.executable, "-c", script]) as host:
        wanted = 4 if engine.startswith("fast") else 3  # host, process, its child, and Fast Downward's driver
        assert becomes(lambda: len(marked()) >= wanted), marked()
        time.sleep(0.3)
        host.kill()
    assert becomes(lambda: not marked()), marked()


@pytest.mark.long
def test_a_host_killed_while_the_process_warms_up_leaves_nothing_behind(marked: Callable[[], list[str]]) -> None:
    script = (
        f"import sys, time; sys.path.insert(0, {str(ROOT)!r})\nfrom spca.plan.solver import Solver\n"
        f"Solver().warm(); print('started', flush=True); time.sleep({AGES})"
    )
    with Process([sys.executable, "-c", script], stdout=subprocess.PIPE) as host:
        assert host.stdout is not None
        assert host.stdout.readline() == "started\n"
        host.kill()
    assert becomes(lambda: not marked()), marked()


@pytest.mark.long
def test_an_interrupt_ends_the_planner_and_the_solver_goes_on(marked: Callable[[], list[str]]) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with Solver("fast-downward") as solver:

        def solve_and_be_interrupted() -> None:
            signal.setitimer(signal.ITIMER_REAL, 0.4)
            solver.solve(HARD_DOMAIN, HARD_PROBLEM)

        solver.solve(DOMAIN, PROBLEM)
        before = signal.signal(signal.SIGALRM, interrupt)
        try:
            with pytest.raises(KeyboardInterrupt):
                solve_and_be_interrupted()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert marked() == []
        assert solver.solve(DOMAIN, ANOTHER).solved


def test_a_process_that_died_is_replaced(marked: Callable[[], list[str]], caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "spca.plan.solver")
    with Solver() as solver:
        assert solver.solve(DOMAIN, PROBLEM).solved
        server = solver._server
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)
        assert solver.solve(DOMAIN, ANOTHER).solved
    assert marked() == []
    assert "the solver's process has gone: it is started again" in caplog.messages


def test_warming_does_not_wait_and_closing_is_final(
    tmp_path: Path, marked: Callable[[], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "unified_planning").mkdir()
    (tmp_path / "unified_planning" / "__init__.py").write_text(f"import time\ntime.sleep({AGES})\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Solver() as solver:
        began = time.monotonic()
        solver.warm()
        assert time.monotonic() - began < PATIENCE
        assert becomes(lambda: len(marked()) == 1)
    solver.close()
    assert marked() == []
    with pytest.raises(ValueError, match="closed"):
        solver.solve(DOMAIN, PROBLEM)


@pytest.mark.long
def test_nothing_is_printed_and_nothing_is_written_where_the_host_runs(tmp_path: Path) -> None:
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom spca.plan.solver import Solver\n"
        "with Solver('fast-downward') as solver:\n"
        f"    sys.exit(0 if solver.solve({DOMAIN!r}, {PROBLEM!r}).solved else 1)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.long
def test_it_works_without_tamer(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['up_tamer'] = sys.modules['pytamer'] = None\n")
    domain = DOMAIN.replace("precondition (and)", "precondition (and (not (holding ?a ?k)))")
    script = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\nfrom spca.plan.solver import Solver, available_engines\n"
        f"with Solver() as solver:\n    print(solver.solve({domain!r}, {PROBLEM!r}).engine, *available_engines())\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["pyperplan-adl", *(name for name in available_engines() if name != "tamer")]


def test_an_installation_that_cannot_be_loaded_is_a_user_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "unified_planning").mkdir()
    (tmp_path / "unified_planning" / "__init__.py").write_text("raise ImportError('no such thing')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with Solver() as solver, pytest.raises(SettingsError, match="cannot be loaded: ImportError: no such thing"):
        solver.solve(DOMAIN, PROBLEM)


def test_the_same_words_are_solved_once_however_they_are_spelled(solver: Solver) -> None:
    first = solver.solve(DOMAIN, PROBLEM)
    again = solver.solve(f"; said\n{DOMAIN.lower()}", PROBLEM.replace(" ", "  ").upper())
    assert again is first
