"""Users' mistakes: one clear line on standard error, exit code 2, nothing changed on disk."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from spca.common.files import lock_folder
from tests.e2e.conftest import Learned, Refused
from tests.fakes.faults import FaultServer
from tests.fakes.openai_wire import CHAT
from tests.support.commands import MINUTES, command, curriculum, environment, fingerprint, main_py
from tests.support.tiers import few

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.timeout(900)


def where(folder: Path) -> tuple[object, ...]:
    return ("--runs", folder / "runs", "--workspace", folder / "workspace")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--only", "goal_navigatoin"], 'no category "goal_navigatoin"; did you mean "goal_navigation"'),
        (["--start-category", "nowhere"], 'no category "nowhere"'),
        (["--only", "Empy*"], 'no level or environment id matches "Empy*"; did you mean "Empty"'),
        (["--only", "open_door", "--start-category", "open_door"], "--start-category and --only exclude each other"),
        (["--curriculum", "absent.json"], "absent.json cannot be read: No such file or directory"),
        (["--keep-agent"], "--keep-agent: "),
        (["--unsafe-no-sandbox"], "confirm it with SPCA_UNSAFE_NO_SANDBOX=1 in the environment, or leave it out"),
        (["--keep-pddl"], "--keep-pddl: "),
        (["--engine", "magic"], "planning engine 'magic' is not installed; installed: pyperplan"),
        (
            ["--planner-model", "o3"],
            "unknown model 'o3': the name must begin with one of reference/..., faulty/..., replay/..., human/...",
        ),
        (["--planner-small-model", "mystery/o3"], "unknown model 'mystery/o3'"),
        (
            ["--coder-model", "reference/poet"],
            "--coder-model reference/poet: the embedded model for this is reference/coder",
        ),
        (
            ["--planner-model", "faulty/coder"],
            "--planner-model faulty/coder: the embedded model for this is faulty/planner",
        ),
        (["--render"], "--render opens a window, but there is no display"),
        (["--coder-model", "openai/o3"], "openai/o3: set OPENAI_API_KEY in the environment or in .env"),
        (["--seed", "-1"], "--seed '-1' is not a whole number from 0. "),
        (["--seed", "one"], "--seed 'one' is not a whole number from 0. "),
        (["--max-cost", "much"], "--max-cost 'much' is not a number of USD from 0"),
        (["--timeout", "0"], "--timeout '0' is not a number of seconds above 0"),
        (["--max-cost", "nan"], "--max-cost 'nan' is not a number of USD from 0"),
        (["--nonsense"], "Unknown option: --nonsense."),
        (["--no-reus"], "Unknown option: --no-reus. Did you mean --no-reuse?"),
        (["learn"], 'Unknown command "learn". Available commands: run, evaluate, ablations, list, '),
        (["--resume", "20200101-000000-aaaa"], "no run '20200101-000000-aaaa' in "),
        (["--resume", "../runs"], "no run '../runs' in "),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else "",
)
def test_flags(tmp_path: Path, refused: Refused, flags: list[str], said: str) -> None:
    assert said in refused(*flags, *where(tmp_path))


MISSPELLED = "openai/gpt-6.1-soll"


@pytest.mark.parametrize("key", ["", "sk-0123456789"])
@pytest.mark.parametrize(
    "flags",
    [
        ["--planner-model", MISSPELLED, "--no-preflight", "--max-calls", "5"],
        ["--coder-model", MISSPELLED, "--no-preflight", "--max-tokens", "9", "--cache", "--quiet", "--timeout", "3"],
        ["--planner-small-model", f"{MISSPELLED}@high", "--no-preflight", "--max-calls", "5"],
        ["--planner-model", MISSPELLED, "--planner-effort", "high", "--no-preflight", "--max-calls", "5"],
        ["--planner-model", MISSPELLED],
        ["--planner-model", MISSPELLED, "--max-cost", "1"],
        ["--planner-model", MISSPELLED.removeprefix("openai/")],
        ["--planner-model", f"opnai{MISSPELLED.removeprefix('openai')}"],
        ["evaluate", "--agent", "agent.py", "--planner-model", MISSPELLED, "--max-cost", "1"],
    ],
    ids=" ".join,
)
def test_a_misspelled_model_names_the_nearest(
    tmp_path: Path, refused: Refused, monkeypatch: pytest.MonkeyPatch, flags: list[str], key: str
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", key)
    shutil.copy(ROOT / "agent.py", tmp_path)
    runs = ("--runs", "runs") if flags[0] == "evaluate" else where(tmp_path)
    assert "openai/gpt-6.1-sol" in refused(*flags, *runs).replace(MISSPELLED, "")


@pytest.mark.long
def test_a_server_that_is_not_there_ends_the_command_at_once(tmp_path: Path, refused: Refused) -> None:
    with FaultServer(CHAT) as gone:
        address = gone.base_url
    line = refused("--planner-model", "openai/m", "--base-url", address, "--max-calls", "5", *where(tmp_path))
    assert line.startswith(f"openai/m: no server at {address} (")
    assert line.endswith(
        "is the server running?; offline, --planner-model reference/planner takes the embedded model "
        "(--no-preflight starts all the same)"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "bad.json: line 1 column 2"),
        ('[{"category_name": "a", "skill": "s"}]', 'categories[0] "a": "levels" must be a non-empty list'),
        (
            '[{"category_name": "a", "skill": "s", "levels": [{"name": "b", "configs": [7]}]}]',
            'categories[0] "a" levels[0] "b": configs[0] must be an environment id, not 7',
        ),
    ],
    ids=["syntax", "missing", "type"],
)
def test_a_malformed_curriculum_names_the_entry(tmp_path: Path, refused: Refused, text: str, said: str) -> None:
    (tmp_path / "bad.json").write_text(text)
    assert said in refused("--curriculum", "bad.json", *where(tmp_path))


def test_an_unknown_id_names_the_nearest_known_one(tmp_path: Path, refused: Refused) -> None:
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-Empty-5x5-v0", "MiniGrid-DorKey-5x5-v0"])
    line = refused("--curriculum", chosen, *where(tmp_path))
    assert "'MiniGrid-DorKey-5x5-v0'" in line
    assert "'MiniGrid-DoorKey-5x5-v0'" in line


@pytest.mark.parametrize("flag", few(1, ["--runs", "--workspace"]))
@pytest.mark.parametrize("below", few(1, ["file", "file/deeper"]))
def test_a_file_where_a_folder_is_needed(tmp_path: Path, refused: Refused, flag: str, below: str) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "ok").mkdir()
    flags = {"--runs": tmp_path / "ok", "--workspace": tmp_path / "ok", flag: tmp_path / below}
    line = refused(*(part for pair in flags.items() for part in pair))
    assert line == f"cannot use folder {tmp_path / below}: {tmp_path / 'file'} is not a folder"


def test_a_folder_that_may_not_be_written_to(tmp_path: Path, refused: Refused) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    try:
        (closed / "probe").touch()
    except PermissionError:
        pass
    else:
        pytest.skip("this user may write everywhere")
    assert "permission denied" in refused("--runs", closed / "runs", "--workspace", tmp_path / "workspace")


@pytest.mark.long
def test_a_workspace_in_use(tmp_path: Path, refused: Refused) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    with lock_folder(workspace, "workspace"):
        line = refused(*where(tmp_path))
    assert line == f"workspace {workspace} is in use by another run: wait for it or choose another folder"


@pytest.mark.long
def test_a_kept_agent_that_is_no_agent(tmp_path: Path, refused: Refused) -> None:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "agent.py").write_text("class Agent:\n    def f(self)\n")
    (workspace / "domain.pddl").write_text("(define (domain d))")
    line = refused("--keep-agent", *where(tmp_path))
    assert "agent.py: syntax error at line 2" in line


@pytest.fixture
def copied(learned: Learned, tmp_path: Path) -> tuple[object, ...]:
    """Flags that resume a copy of the finished run."""
    shutil.copytree(learned.run, tmp_path / "runs" / learned.run.name)
    return ("--resume", learned.run.name, "--runs", tmp_path / "runs")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--seed", "2"], "--seed 2 contradicts the run, which has 1: leave --seed out"),
        (["--only", "doors"], "--only doors contradicts the run"),
        (["--keep-agent"], "--keep-agent contradicts the run"),
        (["--engine", "tamer"], "--engine tamer contradicts the run"),
        (["--workspace", "elsewhere"], "--workspace elsewhere contradicts the run"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_flag_that_contradicts_the_run(
    refused: Refused, copied: tuple[object, ...], flags: list[str], said: str
) -> None:
    assert said in refused(*copied, *flags)


NUL_IN_A_NAME = '{"finished": [], "agent": "a\\u0000b", "category": null, "trusted": null}'


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("run.json", "{", "run.json cannot be read"),
        ("run.json", "{}", "run.json cannot be read: it has no 'settings'"),
        ("run.json", '{"settings": {"seed": 1}}', "the run was begun by another version of this program"),
        (
            "run.json",
            '{"settings": {"seed": "1"}}',
            "run.json cannot be read: its state is not what a run has left: settings",
        ),
        (
            "run.json",
            '{"settings": {}, "versions": []}',
            "run.json cannot be read: its state is not what a run has left: ver",
        ),
        (
            "state/state.json",
            NUL_IN_A_NAME,
            "state/state.json cannot be read: its state is not what a run has left: agent",
        ),
        ("state/state.json", "[]", "state/state.json cannot be read: it holds no object"),
        ("state/state.json", '{"finished": []}', "state/state.json cannot be read: it has no 'agent'"),
        ("state/finished.jsonl", "", "state/finished.jsonl cannot be read: it has 0 of 6 finished levels"),
        ("state/finished.jsonl", "{}\n" * 6, "state/finished.jsonl cannot be read: line 6 is no finished level"),
        ("state/curriculum.json", "[]", "state/curriculum.json: must be a non-empty list"),
    ],
    ids=lambda value: value[:25] if isinstance(value, str) else "",
)
def test_a_run_folder_that_was_damaged(
    tmp_path: Path,
    refused: Refused,
    copied: tuple[object, ...],
    learned: Learned,
    name: str,
    text: str,
    said: str,
) -> None:
    (tmp_path / "runs" / learned.run.name / name).write_text(text)
    assert said in refused(*copied)


def test_an_unknown_run_is_told_the_latest(refused: Refused, copied: tuple[object, ...], learned: Learned) -> None:
    assert f"the latest is {learned.run.name}" in refused("--resume", "nosuch", *copied[2:])


def test_the_program_itself_says_one_line_and_exits_with_2(tmp_path: Path) -> None:
    chosen = curriculum(tmp_path / "c.json", a=["MiniGrid-DorKey-5x5-v0"])
    (tmp_path / ".env").write_text("SPCA_CODER_MODEL=mystery/coder\n")
    before = fingerprint(tmp_path)
    unknown_id = main_py(tmp_path, "--curriculum", chosen, *where(tmp_path), SPCA_CODER_MODEL="reference/coder")
    assert (unknown_id.returncode, unknown_id.stdout) == (2, "")
    assert unknown_id.stderr.startswith("error: unknown environment 'MiniGrid-DorKey-5x5-v0'")
    assert len(unknown_id.stderr.splitlines()) == 1
    dropped = ("SPCA_CODER_MODEL", "PYTHON_DOTENV_DISABLED")
    unset = {name: text for name, text in environment().items() if name not in dropped}
    from_file = subprocess.run(
        command(*where(tmp_path)), cwd=tmp_path, env=unset, capture_output=True, text=True, timeout=MINUTES, check=False
    )
    assert (from_file.returncode, from_file.stdout) == (2, "")
    assert from_file.stderr.startswith("error: unknown model 'mystery/coder'")
    assert fingerprint(tmp_path) == before
