"""The command: what it takes, what it writes and prints, what it refuses; interrupted and resumed."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest

from gridworld.backends import BACKENDS
from gridworld.evaluation import cli, terminal
from gridworld.evaluation.models.model_options import LMStudioOptions, OllamaOptions
from gridworld.evaluation.models.registry import MODELS
from gridworld.evaluation.options import ObservationOptions, RunningOptions, TaskOptions, parse_tiers
from gridworld.rules.tilings import TILINGS
from spca.common.jobs.dispatch import ENGINES
from tests.support.gridworld.players import corridors, main
from tests.support.tiers import long

ROOT = Path(__file__).resolve().parents[3]
FAST = ("--backend", "multigrid", "--quiet")
TIMES = re.compile(r'"(started|finished)": "[^"]*"|"model_seconds": [0-9.e-]+|"die_at": [0-9]+')


def contents(path: Path) -> str:
    """A results file without its times, and without when the model was to die."""
    return TIMES.sub("", path.read_text(encoding="utf-8"))


def read(path: Path) -> dict[str, Any]:
    return dict(json.loads(path.read_text(encoding="utf-8")))


def in_process(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command with the models of the tests in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "tests.support.gridworld.players", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with a folder of six tasks, "tasks"."""
    corridors(tmp_path / "tasks")
    monkeypatch.chdir(tmp_path)
    return tmp_path


DIRECTORY = ("--benchmark", "directory", "--task-dir", "tasks", "--model", "forward", *FAST)


def test_an_evaluation_writes_results_and_says_where(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DIRECTORY) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0] == "forward on tasks: 3 of 6 solved (50.0%), 3.00 of 6 points (50.0%), optimality 1.000"
    assert out[1] == "results: results/forward_tasks.json"
    leaderboard = "leaderboard results/forward_tasks.json --output results/forward_tasks.html"
    assert out[2:] == [f"look at it: {terminal.program()} {leaderboard}"]
    data = read(home / "results" / "forward_tasks.json")
    assert [result["task_id"] for result in data["task_results"]] == [f"task_{number}" for number in range(6)]
    assert [result["success"] for result in data["task_results"]] == [True] * 3 + [False] * 3
    assert data["run"]["settings"]["backend"] == "multigrid"
    assert data["run"]["tasks"][0]["file"].endswith("tasks/0.json")
    assert set(data["run"]) == {
        "settings",
        "tasks",
        "started",
        "finished",
        "versions",
        "model",
        "git_commit",
        "git_dirty",
        "hashes",
    }
    assert [path.name for path in (home / "results").iterdir()] == ["forward_tasks.json"]


def test_tables_show_tasks_and_tiers(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--benchmark", "tiers", "--tier", "1,2", "--model", "bfs", "--backend", "multigrid"]
    assert cli.main([*arguments, "--output", "out/o.json"]) == 0
    out = capsys.readouterr().out
    assert re.search(r"pass\s+tier1_maze_corridor_002\s+27\s+27\s+1\.000\s+1\.00 / 1", out)
    assert re.search(r"\n2\s+3\s+3\s+100\.0%\s+25\.0", out)
    data = read(home / "out" / "o.json")
    assert (data["benchmark_name"], data["num_tasks"], data["overall_success_rate"]) == ("tiers_1,2", 6, 1.0)
    assert data["tier_metrics"]["2"]["num_success"] == 3
    assert data["run"]["tasks"][3]["tier"] == 2
    assert data["run"]["tasks"][3]["file"].startswith("gridworld/tasks/tier2/")


@pytest.mark.long
def test_results_are_neither_overwritten_nor_played_twice_unasked(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(DIRECTORY) == 0
    first = (home / "results" / "forward_tasks.json").read_text(encoding="utf-8")
    capsys.readouterr()
    for more in ([], ["--resume"]):
        assert main([*DIRECTORY, *more, "--die-at", "1"]) == 0, "everything is finished: nobody plays"
        out = capsys.readouterr().out.splitlines()
        assert out[0].startswith("forward on tasks: 3 of 6 solved (50.0%)")
        since = json.loads(first)["run"]["finished"]
        ways = "to play again, add --overwrite, or --output FILE to keep both"
        assert out[2] == f"nothing was played: these results were there since {since}; {ways}"
    assert main([*DIRECTORY, "--tiling", "hex", "--output", "results/forward_tasks.json"]) == 2
    told = capsys.readouterr().err
    assert 'is of another evaluation: tiling was "square", now "hex"; choose another --output' in told
    assert "such as results/forward_tasks_2.json, or --overwrite it" in told
    assert told.count("\n") == 1
    assert (home / "results" / "forward_tasks.json").read_text(encoding="utf-8") == first
    assert main([*DIRECTORY, "--overwrite"]) == 0


def test_results_of_another_source_are_shown_as_such(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DIRECTORY) == 0
    path = home / "results" / "forward_tasks.json"
    found = read(path)
    for hashes, told in (({"product": "0" * 64}, "made by another source"), (None, "made by an unknown source")):
        path.write_text(json.dumps({**found, "run": {**found["run"], "hashes": hashes}}), encoding="utf-8")
        capsys.readouterr()
        assert main(DIRECTORY) == 0
        assert f"{told} of this program; to play again" in capsys.readouterr().out


def test_a_results_file_that_contradicts_itself_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(DIRECTORY) == 0
    path = home / "results" / "forward_tasks.json"
    found = read(path)
    results, run = found["task_results"], found["run"]
    for change in (
        {"task_results": results[:2]},
        {"task_results": results[::-1]},
        {"run": {**run, "settings": []}},
        {"run": {**run, "tasks": 3}},
        {"run": {**run, "tasks": [1, 2]}},
    ):
        path.write_text(json.dumps({**found, **change}), encoding="utf-8")
        assert main([*DIRECTORY, "--resume"]) == 2
        assert "is of another evaluation" in capsys.readouterr().err


def test_results_are_written_where_a_link_leads(home: Path) -> None:
    (home / "disk").mkdir()
    (home / "o.json").symlink_to("disk/real.json")
    assert main([*DIRECTORY, "--output", "o.json"]) == 0
    assert (home / "o.json").is_symlink()
    assert read(home / "disk" / "real.json")["num_tasks"] == 6
    assert [path.name for path in (home / "disk").iterdir()] == ["real.json"]


@pytest.mark.long
@pytest.mark.parametrize("points", [long(("1",)), long(("29",)), ("5", "9")])
def test_killed_anywhere_and_resumed_the_results_are_the_same(points: tuple[str, ...], home: Path) -> None:
    """Killed in the first task and in the last; then twice in one evaluation."""
    assert main([*DIRECTORY, "--output", "whole.json"]) == 0
    whole = contents(home / "whole.json")
    output = home / "killed.json"
    arguments = [*DIRECTORY, "--output", output.name]
    for number, point in enumerate(points):
        done = in_process(home, *arguments, "--die-at", point, *(["--resume"] if number else []))
        assert done.returncode == -signal.SIGKILL, done.stderr
        assert not output.exists()
    assert main([*arguments, *["--resume"] * (len(points) - 1)]) == 0
    assert contents(output) == whole
    assert not list(home.glob("*.partial.jsonl"))


def test_no_finished_task_is_played_again(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(home, *DIRECTORY, "--output", "o.json", "--die-at", "4").returncode == -signal.SIGKILL
    [journal] = home.glob("*.partial.jsonl")
    finished = journal.read_bytes().splitlines()[1:]
    assert len(finished) == 2
    seconds = [json.loads(line)["result"]["episode"]["info"]["model_seconds"] for line in finished]
    capsys.readouterr()
    assert main([*DIRECTORY[:-1], "--output", "o.json"]) == 0
    assert capsys.readouterr().err == "going on: 2 of 6 tasks were finished before\n"
    results = read(home / "o.json")["task_results"]
    assert [result["episode"]["info"]["model_seconds"] for result in results[:2]] == seconds


@pytest.mark.long
def test_a_model_that_answered_before_an_interruption_can_be_used(home: Path) -> None:
    """The last task, which this model cannot play, counts the same whether or not the evaluation was interrupted."""
    arguments = [*DIRECTORY, "--model", "picky", "--output", "o.json"]
    assert main(arguments) == 0
    whole = read(home / "o.json")
    (home / "o.json").unlink()
    lines = [json.dumps({"journal": 1, **whole["run"]})]
    lines += [json.dumps({"index": number, "result": whole["task_results"][number]}) for number in range(5)]
    (home / "o.json.partial.jsonl").write_text("\n".join([*lines, ""]), encoding="utf-8")
    assert main([*arguments, "--resume"]) == 0
    resumed = read(home / "o.json")
    assert resumed["task_results"][5]["episode"]["info"]["model_error"] == "this task cannot be played"
    assert resumed["task_results"][:5] == whole["task_results"][:5]


class Gone(io.StringIO):
    """Standard output that nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.descriptor = descriptor

    def write(self, text: str) -> int:
        raise BrokenPipeError(32, "Broken pipe", text)

    def fileno(self) -> int:
        return self.descriptor


def test_an_evaluation_whose_output_nobody_reads_is_not_finished(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with (home / "out").open("w", encoding="utf-8") as file, monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Gone(file.fileno()))
        assert main([*DIRECTORY[:-1], "--verbose"]) == 130
        assert "nobody reads the output; no task was finished" in capsys.readouterr().err
        assert main(DIRECTORY) == 0, "the summary only is not read"
    assert read(home / "results" / "forward_tasks.json")["num_tasks"] == 6


def test_what_belongs_to_another_evaluation_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert in_process(home, *DIRECTORY, "--output", "o.json", "--die-at", "4").returncode == -signal.SIGKILL
    arguments = [*DIRECTORY, "--output", "o.json", "--resume"]
    assert main([*arguments, "--seed", "1"]) == 2
    assert "seed was 42, now 1; choose another --output to keep it, or --overwrite it" in capsys.readouterr().err
    text = (home / "tasks" / "5.json").read_text(encoding="utf-8")
    (home / "tasks" / "5.json").write_text(text.replace('"max_steps": 8', '"max_steps": 9'), encoding="utf-8")
    assert main(arguments) == 2
    assert "task 'task_5' has changed" in capsys.readouterr().err
    assert main([*DIRECTORY, "--output", "o.json", "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--model nobody", "there is no model 'nobody'; there are random, bfs, greedy"),
        ("--model spca", "python run_eval.py --model spca"),
        ("--model bfs --tiling hex", "--backend multigrid has it"),
        ("--model bfs --benchmark directory", "needs --task-dir DIR"),
        ("--model bfs --task-dir tasks", "--benchmark directory or tiers"),
        ("--model bfs --tier 2", "--benchmark tiers"),
        ("--model bfs --benchmark tiers --tier 9", "there is no tier 9"),
        ("--model bfs --benchmark tiers --task-dir tasks", "tier1, tier2"),
        ("--model bfs --benchmark directory --task-dir nowhere", "nowhere"),
        ("--model file_based", "--work-dir"),
        ("--model alone --workers 2", "at most 1 process"),
        ("--model unusable", "nobody is there: start the server"),
        ("--model unusable --workers 2", "nobody is there: start the server"),
        ("--model bfs --output tasks/0.json/x.json", "cannot be written"),
        ("--model bfs --output tasks/0.json", "--overwrite"),
        ("--model bfs --overwrite --output tasks", "is a folder"),
        ("--model bfs --overwrite --output /dev/null", "not a regular file"),
        (f"--model bfs --output {'n' * 300}", "File name too long"),
        ("frobnicate", 'Unknown command "frobnicate". Available commands: validate, generate'),
    ],
)
def test_a_mistake_is_one_line(home: Path, capsys: pytest.CaptureFixture[str], arguments: str, words: str) -> None:
    before = sorted(home.rglob("*"))
    assert main([*arguments.split(), *(FAST[:2] if "hex" not in arguments else ())]) == 2
    err = capsys.readouterr().err
    assert words in err
    assert err.count("\n") == 1
    assert [path for path in sorted(home.rglob("*")) if path not in before and path.name != "results"] == []


def test_a_misspelled_key_is_named(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PYTHON_DOTENV_DISABLED")
    (home / ".env").write_text('A=1\nOPENAI_API_KEY="sk-0123456789\n')
    assert main(["--model", "openai/gpt-6-luna"]) == 2
    said = "line 2: it sets no variable or leaves a quote open: write NAME=VALUE\n"
    assert capsys.readouterr().err == f"error: {home}/.env, {said}"


def made_for(file: Path, metadata: Any) -> None:
    file.write_text(json.dumps({**read(file), "metadata": metadata}), encoding="utf-8")


def test_tasks_made_for_hexagons_are_refused_on_squares(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_for(home / "tasks" / "0.json", {"tiling": "square", "generator": "by hand"})
    made_for(home / "tasks" / "2.json", {"generator": {"tiling": "hex"}})
    made_for(home / "tasks" / "3.json", {"tiling": "hex"})
    assert main(DIRECTORY) == 2
    err = capsys.readouterr().err
    assert err.startswith(
        "error: tasks/2.json: metadata.tiling: the task was made for hex, not for square; play it with"
    )
    assert "--backend multigrid --tiling hex" in err
    assert err.count("\n") == 1
    assert not (home / "results").exists()
    assert main([*DIRECTORY, "--tiling", "hex"]) == 0, "tasks for squares may be played on hexagons"


@pytest.mark.parametrize(
    "arguments",
    [
        "",
        "--model bfs --workers 0",
        "--model bfs --tier 3-1",
        "--model bfs --tier x",
        "--model bfs --history-images -1",
        "--model bfs --history-images 99999999999999999999",
        "--model bfs --history-text-window 0",
        "--model bfs --backend gym",
        "--model bfs --frob",
        "--model bfs --timeout nan",
        "--model bfs --resume --overwrite",
        "--model bfs --quiet --verbose",
        "--mod bfs",
    ],
)
def test_a_wrong_option_is_one_line(capsys: pytest.CaptureFixture[str], arguments: str) -> None:
    assert main(arguments.split()) == 2
    assert capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "tiers"),
    [("all", None), ("ALL", None), ("1", (1,)), ("1-3", (1, 2, 3)), ("2,4,5", (2, 4, 5)), ("3, 1-2,2", (1, 2, 3))],
)
def test_tiers_are_read(text: str, tiers: tuple[int, ...] | None) -> None:
    assert parse_tiers(text) == tiers


@pytest.mark.parametrize("text", ["", "-", "1-", "3-1", "a", "1;2", "1-999999999", "१"])
def test_no_tiers(text: str) -> None:
    with pytest.raises(ValueError, match="tiers"):
        parse_tiers(text)


def test_hostile_text_does_not_reach_the_terminal(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = home / "a\x1b[31m\u202eb"
    corridors(folder, 2)
    arguments = ["--benchmark", "directory", "--task-dir", str(folder), "--model", "random", "--backend", "multigrid"]
    assert main(arguments) == 0
    shown = capsys.readouterr()
    assert not set(shown.out + shown.err) & {"\x1b", "\u202e"}


def test_a_terminal_of_few_letters_escapes_the_others(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home / "\u6f22"
    corridors(folder, 2)
    shown = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(shown, encoding="ascii"))
    line = ["--benchmark", "directory", "--task-dir", str(folder), "--model", "bfs", "--backend", "multigrid"]
    assert main(line) == 0
    assert rb"bfs on \u6f22: 2 of 2 solved" in shown.getvalue()


@dataclass(frozen=True)
class Address:
    url: str = "http://me:secret@host:1/x"
    n: int = 3


def test_addresses_lose_their_passwords_in_results(home: Path) -> None:
    from gridworld.evaluation.running.settings import Settings

    settings = Settings(TaskOptions(), "m", Address())
    assert settings.to_dict()["url"] == "http://host:1/x"
    assert settings.to_dict()["n"] == 3
    assert home.exists()


def test_the_command_knows_the_options_of_models(capsys: pytest.CaptureFixture[str]) -> None:
    line = "--model ollama --ollama-model m --ollama-url u --ollama-retries 0 --lmstudio-model l --no-history-text"
    _, bound, _ = cli.build_app().parse_args([*line.split(), "--history-images", "0", "--text-observation"])
    options = bound.kwargs["options"]
    assert options.observation == ObservationOptions(history_images=0, history_text=False, text_observation=True)
    assert MODELS["ollama"].make_options(bound.kwargs) == OllamaOptions(
        ollama_model="m", ollama_url="u", ollama_retries=0
    )
    assert MODELS["lmstudio"].make_options(bound.kwargs) == LMStudioOptions(lmstudio_model="l")
    assert cli.main(["--help"]) == 0
    assert "--ollama-timeout" in capsys.readouterr().out


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize(
    ("line", "note"),
    [
        ([*DIRECTORY, "--engine", "local"], "note: --engine is called --executor now\n"),
        (["draw", "memory_003", "--out", "p.png"], "note: --out is called --output now\n"),
    ],
)
def test_a_former_name_is_taken(line: list[str], note: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(line) == 0
    assert capsys.readouterr().err == note


def test_choices_are_those_of_the_library() -> None:
    tasks = get_type_hints(TaskOptions)
    assert get_args(tasks["backend"]) == tuple(BACKENDS)
    assert get_args(tasks["tiling"]) == tuple(TILINGS)
    assert get_args(get_type_hints(RunningOptions)["executor"]) == tuple(ENGINES)


def test_help_is_quick_and_loads_nothing_heavy() -> None:
    code = (
        "import sys; from gridworld.evaluation import cli; cli.build_app();"
        "heavy = {'numpy', 'minigrid', 'gymnasium', 'rich', 'PIL', 'openai', 'ollama', 'jinja2', 'ray', 'pygame'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
