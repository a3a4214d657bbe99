"""A run whose planner and coder are asked at a server each, with a key each."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fakes.reference_server import ReferenceServer, Settings
from tests.support import forked
from tests.support.commands import MINUTES, curriculum, environment, main_py, only_run, read
from tests.support.spca.doubles import ROOT
from tests.support.spca.served import book, cost_of, imbalance

pytestmark = pytest.mark.timeout(900)

KEYS = {"LAB_KEY": "a-key-of-the-lab-0123456789", "BOX_SECRET_WORD": "another-word-of-the-box"}
MODELS = ("--planner-model", "lab/gpt-6.1-sol", "--coder-model", "box/gpt-5.2")
PRICED = {
    "lab/gpt-6.1-sol": {"api": "responses", "input": 2, "cached": 0.1, "cache_write": 2.5, "output": 10},
    "box/gpt-5.2": {"input": 1.75, "cached": 0.175, "output": 14},
}


@pytest.fixture
def short(tmp_path: Path) -> tuple[object, ...]:
    chosen = curriculum(tmp_path / "c.json", doors=("MiniGrid-DoorKey-5x5-v0",))
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"models": PRICED}), encoding="utf-8")
    where = ("--runs", tmp_path / "runs", "--workspace", tmp_path / "workspace")
    return ("--curriculum", chosen, *where, "--model-table", table)


@pytest.mark.long
def test_planner_and_coder_have_a_server_each(short: tuple[object, ...], tmp_path: Path) -> None:
    with ReferenceServer(Settings(key=KEYS["LAB_KEY"])) as lab, ReferenceServer() as box:
        servers = {"SPCA_SERVERS": f"lab={lab.base_url}|LAB_KEY,box=http://127.0.0.1:9/v1|GONE,unused=http://x/v1"}
        moved = ("--server", f"box={box.base_url},BOX_SECRET_WORD")
        done = main_py(tmp_path, *short, *MODELS, *moved, OPENAI_API_KEY="sk-not-for-them-0123", **servers, **KEYS)
        assert (done.returncode, done.stderr) == (0, "")
        assert [line.method for line in (*lab.lines[:1], *box.lines[:1])] == ["GET", "GET"], "both were looked up"
        planned, coded = lab.asked, box.asked
    run = only_run(tmp_path / "runs")
    assert {line.model for line in planned} == {"gpt-6.1-sol"}
    assert {line.model for line in coded} == {"gpt-5.2"}
    records = book(run)
    assert [r["phase"] for r in records if r["model"] == "lab/gpt-6.1-sol"] == ["planner"] * len(planned)
    assert [r["phase"] for r in records if r["model"] == "box/gpt-5.2"] == ["coder"] * len(coded)
    both = sorted((*planned, *coded), key=lambda line: line.time)
    assert imbalance(run, both) == []
    assert f"{len(both)} requests, " in done.stdout
    assert f"{sum(map(cost_of, both)):.4f} USD" in done.stdout
    assert f"lab at {lab.base_url}; box at {box.base_url}" in done.stdout
    assert (
        read(run / "run.json")["settings"]["servers"]
        == f"lab={lab.base_url}|LAB_KEY,box={box.base_url}|BOX_SECRET_WORD"
    )
    kept = [path.read_text(encoding="utf-8") for path in run.rglob("*") if path.is_file()]
    assert not any(key in text for text in (*kept, done.stdout) for key in (*KEYS.values(), "sk-not-for-them"))


@pytest.mark.long
def test_a_run_goes_on_where_its_server_has_moved(short: tuple[object, ...], tmp_path: Path) -> None:
    given = {"LAB_KEY": KEYS["LAB_KEY"]}
    with ReferenceServer(Settings(key=KEYS["LAB_KEY"])) as lab:
        flags = ("--planner-model", "lab/gpt-6.1-sol", "--server", f"lab={lab.base_url},LAB_KEY", "--max-calls", "1")
        stopped = main_py(tmp_path, *short, *flags, **given)
        assert stopped.returncode == 3, stopped.stderr
    run = only_run(tmp_path / "runs")
    resume = ("--resume", run.name, "--runs", tmp_path / "runs", "--max-calls", "99")
    unset = main_py(tmp_path, *resume)
    assert unset.returncode == 2
    assert unset.stderr == "error: lab/gpt-6.1-sol: set LAB_KEY in the environment or in .env\n"
    with ReferenceServer(Settings(key=KEYS["LAB_KEY"])) as moved:
        done = main_py(tmp_path, *resume, SPCA_SERVERS=f"lab={moved.base_url}|LAB_KEY", **given)
        assert (done.returncode, done.stderr) == (0, "")
        assert imbalance(run, [*lab.asked, *moved.asked]) == []
    assert read(run / "run.json")["settings"]["servers"] == f"lab={moved.base_url}|LAB_KEY"


def test_the_models_of_servers_are_listed_by_threads_that_import_nothing(tmp_path: Path) -> None:
    listed = Settings(key=KEYS["LAB_KEY"], models=("one", "two"))
    with ReferenceServer(listed) as lab, ReferenceServer() as own:
        flags = ("models", "--server", f"lab={lab.base_url},LAB_KEY")
        env = environment(OLLAMA_HOST=own.url, **KEYS)
        done = forked.run_statements(forked.MAIN_WATCHED, str(tmp_path), *flags, cwd=tmp_path, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["lab/", "LAB_KEY", "is", "set;", "listed", "at", lab.base_url] in lines
    assert ["lab/one", "?", "?"] in lines
    assert ["lab/two", "?", "?"] in lines
    assert ["ollama/", "no", "key;", "listed", "at", own.url] in lines
    assert KEYS["LAB_KEY"] not in done.stdout


@pytest.mark.long
def test_the_models_of_every_provider_are_listed_by_threads_that_import_nothing(tmp_path: Path) -> None:
    with ReferenceServer() as server:
        env = {"ANTHROPIC_API_KEY": "not-a-real-key", "ANTHROPIC_BASE_URL": server.url, "OLLAMA_HOST": server.url}
        env |= {"GEMINI_API_KEY": "not-a-real-key", "GOOGLE_GEMINI_BASE_URL": server.url}
        env |= {"OPENAI_BASE_URL": server.base_url, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(
            [sys.executable, "-c", forked.MAIN_WATCHED, str(tmp_path), "models"],
            cwd=tmp_path,
            env=environment(**env),
            capture_output=True,
            text=True,
            timeout=MINUTES,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count(f"listed at {server.url}") == 4
