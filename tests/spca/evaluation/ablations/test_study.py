"""Studies of ablations: what is learned and played, what is left after an interruption, and the table."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from spca.commands.program import make_program
from spca.common.command import ExitHandler
from spca.common.errors import SettingsError, UsageError
from spca.common.options.command_line import run_app
from spca.errors import ResumeError
from spca.evaluation.ablations.table import AblationRow, markdown, show
from spca.evaluation.options import EvaluateOptions
from spca.runs.provenance import versions
from spca.runs.recording.folder import Begun
from spca.runs.settings import Settings
from tests.support.commands import curriculum, only_run, read

USAGE = {"input_tokens": 70, "output_tokens": 30, "estimated": 0, "cost_usd": 0.25, "cost_unknown": 1}
RENAMED = ("--planner-model", "x/1", "--coder-model", "x/2", "--rename-words", "4")
FROZEN = {"planners": {"writers": 3}, "curriculum": {"pooled": {"pass1": {"good": 9, "total": 10}}}}


class KilledError(Exception):
    """The process was killed."""


class Commands:
    """``run`` and ``evaluate`` of nothing, which leave the files of a finished run and evaluation.

    Args:
        dies: calls after which the process is killed, half done; they count from 1.
    """

    def __init__(self, *dies: int) -> None:
        self._dies = dies
        self.learned: list[Settings] = []
        self.greetings: list[bool] = []
        self.resumed: list[bool] = []
        self.played: list[EvaluateOptions] = []

    def play_run(
        self, _end: ExitHandler, _phases: object, settings: Settings, begun: Begun | None, greets: bool = True
    ) -> int:
        self.learned.append(settings)
        self.greetings.append(greets)
        self.resumed.append(begun is not None)
        run = begun.folder.path if begun else Path(settings.runs) / f"run-{len(self.learned)}"
        if begun is None:
            for name in ("state", "agents", "trajectories", "pddl", "summaries"):
                (run / name).mkdir(parents=True)
            info = {"settings": settings.record(), "versions": versions(), "sandbox": "strict"}
            (run / "run.json").write_text(json.dumps(info))
            (run / "curriculum.json").write_text("[]")
            state: dict[str, Any] = {"finished": [], "agent": "agents/agent_v000.py", "category": None, "trusted": None}
            (run / "state/state.json").write_text(json.dumps(state))
        done = not self._is_killed()
        (run / "summary.json").write_text(json.dumps(self._summary(2 if done else 1)))
        self._die(done)
        return 0

    def evaluate(self, options: EvaluateOptions, **_handed: object) -> int:
        self.played.append(options)
        assert options.how.runs
        folder = Path(options.how.runs) / (options.how.resume or f"evaluation-{len(self.played)}")
        folder.mkdir(exist_ok=True)
        (folder / "evaluation.json").write_text("{}")
        self._die(not self._is_killed())
        (folder / "summary.json").write_text(json.dumps(FROZEN))
        return 0

    def _is_killed(self) -> bool:
        return len(self.learned) + len(self.played) in self._dies

    @staticmethod
    def _die(done: bool) -> None:
        if not done:
            raise KilledError

    @staticmethod
    def _summary(finished: int) -> dict[str, Any]:
        counters = {"planner_calls": 4, "coder_calls": 2, "planner_compiled": 1}
        figures = {"levels": 2, "finished": finished, "solved": finished, "library": {"actions": 5, "bytes": 900}}
        return {**figures, "counters": counters, "usage": USAGE}


@pytest.fixture
def levels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, ...]:
    monkeypatch.chdir(tmp_path)
    chosen = curriculum(tmp_path / "levels.json", first=["MiniGrid-Empty-5x5-v0"], second=["MiniGrid-Empty-6x6-v0"])
    return "--curriculum", chosen.name, "--runs", "runs"


def studied(commands: Commands, *arguments: str) -> Path:
    app = make_program("main.py")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("spca.runs.run.play_run", commands.play_run)
        patch.setattr("spca.commands.ablations.evaluate", commands.evaluate)
        assert run_app(app, ["ablations", *arguments], exit_handler=ExitHandler(), load_phases=lambda: None) == 0
    return max(Path("runs").iterdir())


def only(runs: Path) -> Path:
    (path,) = runs.iterdir()
    return path


def test_each_setting_is_learned_and_played_once(levels: tuple[str, ...]) -> None:
    commands = Commands()
    path = studied(commands, *levels, "--seeds", "7:9", "--seed", "3")
    assert [(given.ablations, given.only) for given in commands.learned] == [
        ((), ()),
        (("--no-compile",), ()),
        (("--no-reuse",), ()),
        (("--no-regression-check",), ()),
        (("--no-curriculum",), ("first",)),
        (("--no-curriculum",), ("second",)),
    ]
    assert {given.seed for given in commands.learned} == {3}
    assert commands.greetings == [True, *[False] * 5]
    assert len({(given.runs, given.workspace) for given in commands.learned}) == 6
    for given, options in zip(commands.learned, commands.played, strict=True):
        assert options.how.runs == given.runs
        assert Path(str(options.episodes.agent)).parent == Path(given.runs)
        assert (str(options.episodes.seeds), options.planner.planner_model) == ("7:9", "reference/planner")
        assert options.episodes.only == given.only
    rows = read(path / "ablations.json")["rows"]
    assert [row["name"] for row in rows] == ["full", "no-compile", "no-reuse", "no-regression-check", "no-curriculum"]
    assert [row["tokens"] for row in rows] == [100, 100, 100, 100, 200]
    assert (path / "ablations.md").read_text().count("\n| no-") == 4


def test_what_was_played_is_told_at_once_and_the_levels_in_the_table(
    levels: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path = studied(Commands(), *levels, "--settings", "full,no-curriculum")
    told = capsys.readouterr().out
    assert told.startswith(f"study {path.name}: 3 runs; a cap holds for each of them, and for each evaluation\n")
    assert told.count("a cap holds") == 1
    assert "frozen: full\n  9 of 10 episodes solved by the first plan\n" in told
    assert "\nLevels: 1 of first, 1 of second. " in (path / "ablations.md").read_text()
    *_, tables, looked_at = told.splitlines()
    where = path.absolute()
    assert tables == f"tables: {where}/ablations.md and {where}/ablations.json"
    assert looked_at == f"look at it: python main.py report {only_run(where / 'full')}"


def test_two_runs_of_a_study_are_looked_at_side_by_side(
    levels: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    path = studied(Commands(), *levels, "--settings", "no-curriculum,full,no-reuse,no-compile")
    runs = [str(only_run(path.absolute() / name)) for name in ("full", "no-reuse")]
    assert capsys.readouterr().out.splitlines()[-1] == f"look at it: python main.py report --compare {' '.join(runs)}"


def test_bare_prompts_are_compared_where_a_model_reads_them(levels: tuple[str, ...]) -> None:
    commands = Commands()
    models = ("--planner-model", "x/1", "--coder-model", "x/2", "--planner-effort", "high", "--no-preflight")
    studied(commands, *levels, *models, "--frozen-planner", "none", "--workers", "2")
    assert [given.bare_prompt for given in commands.learned] == [False] * 6 + [True]
    assert {str(given.models.planner) for given in commands.learned} == {"x/1@high"}
    assert all(options.how.workers == 2 for options in commands.played)
    assert all(options.planner.planner_model == "none" for options in commands.played)


def test_renamed_words_are_played_by_writers_alone(levels: tuple[str, ...]) -> None:
    commands = Commands()
    studied(commands, *levels, *RENAMED, "--settings", "full")
    studied(commands, *levels, *RENAMED, "--settings", "full", "--frozen-planner", "x/3")
    assert [given.rename_words for given in commands.learned] == [4, 4]
    assert [options.planner.planner_model for options in commands.played] == ["none", "x/3"]


def test_the_levels_are_those_that_were_selected(levels: tuple[str, ...]) -> None:
    commands = Commands()
    path = studied(commands, *levels, "--only", "second", "--settings", "no-curriculum, full")
    assert [entry["category_name"] for entry in read(path / "curriculum.json")] == ["second"]
    assert [given.only for given in commands.learned] == [("second",), ()]
    assert {given.curriculum for given in commands.learned} == {str(Path.cwd() / path / "curriculum.json")}


@pytest.mark.parametrize("dies", range(1, 5))
def test_a_study_that_was_killed_goes_on_where_it_was(levels: tuple[str, ...], dies: int) -> None:
    before = Commands(dies)
    with pytest.raises(KilledError):
        studied(before, *levels, "--settings", "full,no-reuse", "--max-calls", "5")
    path, after = only(Path("runs")), Commands()
    studied(after, "--resume", path.name, "--runs", "runs", "--max-calls", "9")
    assert len(before.learned) + len(after.learned) == 2 + (dies in (1, 3))
    assert len(before.played) + len(after.played) == 2 + (dies in (2, 4))
    assert sum(after.resumed) == (dies in (1, 3))
    assert all(given.models.max_calls == 9 for given in after.learned)
    assert [row["solved"]["good"] for row in read(path / "ablations.json")["rows"]] == [2, 2]
    finished = Commands()
    studied(finished, "--resume", path.name, "--runs", "runs")
    assert (finished.learned, finished.played) == ([], [])


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (("--no-reuse",), UsageError, "Unknown option: --no-reuse"),
        (("--workspace", "w"), UsageError, "Unknown option: --workspace"),
        (("--only", "nothing"), Exception, 'no category "nothing"'),
        (("--resume", "nothing"), ResumeError, "no study of ablations 'nothing' in"),
        (("--resume", "../runs"), ResumeError, "no study of ablations '../runs' in"),
        (("--settings", "full,bare-prompt"), SettingsError, "--settings bare-prompt: reference/planner does not read"),
        (("--rename-words", "1"), SettingsError, "reads the true words only"),
        (("--frozen-planner", "reference/coder"), SettingsError, "the embedded model for this is reference/planner"),
        (("--frozen-planner", "x/1", "--workers", "2"), SettingsError, "x/1 is counted by one process"),
        ((*RENAMED, "--frozen-planner", "reference/planner"), SettingsError, "reads the true words only"),
    ],
)
def test_a_mistake_is_told_before_anything_is_made(
    levels: tuple[str, ...], arguments: tuple[str, ...], error: type[Exception], said: str
) -> None:
    with pytest.raises(error, match=said):
        studied(Commands(), *levels, *arguments)
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "arguments",
    [("--settings", "fuller"), ("--settings", "full,full"), ("--seeds", "9:1"), ("--workers", "0"), ("--lvels", "x")],
)
def test_an_option_that_cannot_be_read_is_one_line(levels: tuple[str, ...], arguments: tuple[str, ...]) -> None:
    with pytest.raises(UsageError, match="--help lists all options"):
        studied(Commands(), *levels, *arguments)


@pytest.mark.parametrize(("flag", "value"), [("--seeds", "1:2"), ("--seed", "2"), ("--settings", "full")])
def test_what_a_study_was_begun_with_stays(levels: tuple[str, ...], flag: str, value: str) -> None:
    path = studied(Commands(), *levels, "--settings", "full")
    with pytest.raises(ResumeError, match=f"{flag} was chosen when the study began"):
        studied(Commands(), "--resume", path.name, "--runs", "runs", flag, value)


def test_the_table_tells_what_is_guessed_and_unknown(capsys: pytest.CaptureFixture[str]) -> None:
    summary = Commands._summary(2) | {"usage": {**USAGE, "estimated": 1}}
    row = AblationRow.sum_runs("full", [summary, summary], [FROZEN, FROZEN])
    assert tuple(row.cells().values())[1:] == (
        "4/4",
        "8",
        "4",
        "2",
        "~200",
        "0.50+2?",
        "10",
        "20",
        "90.00 %",
        "69.9 to 97.2",
    )
    show([row])
    assert "~200 0.50+2?" in capsys.readouterr().out
    page = markdown([row], {"doors": 2, "keys": 1}, "7:9", "none", "commit 0a1b")
    assert "Levels: 2 of doors, 1 of keys. Frozen on seeds 7:9" in page
    assert "| full | 4/4 |" in page


@pytest.mark.parametrize(("columns", "parts"), [("200", 1), ("80", 2), ("40", 5)])
def test_on_a_narrow_terminal_nothing_is_cut_and_each_part_names_the_settings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: str, parts: int
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    summary = Commands._summary(150) | {"levels": 150, "usage": {**USAGE, "estimated": 1, "input_tokens": 1_234_567}}
    rows = [AblationRow.sum_runs(name, [summary], [FROZEN]) for name in ("full", "no-regression-check")]
    show(rows)
    printed = re.sub("\\x1b[^m]*m", "", capsys.readouterr().out)
    assert max(map(len, printed.splitlines())) <= int(columns)
    assert printed.count("no-regression-check") == printed.count("setting") == parts
    assert all(cell in printed for row in rows for cell in row.cells().values())
    assert "\u2026" not in printed
