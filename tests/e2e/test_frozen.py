"""``evaluate``: what was learned, frozen, on seeds never seen; kills and workers change nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.conftest import Learned, Refused
from tests.soak.policy import compare_all
from tests.support.commands import main_py, read, start, wait_for
from tests.support.report.pages import read_pieces
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.timeout(900)

CHOICE = ("--only", "MiniGrid-*5x5-v0", "--seeds", "500:506", "--planner-model", "none")
REACH_GOAL, METHOD = "    def reach_goal(self, agent, goal):\n", "\n    def "
FILES = ("episodes.jsonl", "proofs.jsonl")


def timeless(evaluation: Path) -> list[list[str]]:
    """Lines of the files of episodes but for their seconds, which come last."""
    texts = [(evaluation / name).read_text(encoding="utf-8") for name in FILES]
    return [[line.rpartition(', "seconds"')[0] for line in text.splitlines()] for text in texts]


def only_evaluation(runs: Path) -> Path:
    (record,) = runs.glob("*/evaluation.json")
    return record.parent


@pytest.fixture(scope="module")
def evaluation(learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An unbroken evaluation in two processes."""
    runs = tmp_path_factory.mktemp("frozen")
    done = main_py(runs, "evaluate", "--agent", learned.run, *CHOICE, "--workers", 2, "--runs", runs)
    assert (done.returncode, done.stderr) == (0, "")
    assert "18 episodes of seeds 500:506; first plans: " in done.stdout
    found = only_evaluation(runs)
    page, command = done.stdout.splitlines()[-2:]
    assert re.fullmatch(rf"page: {found}/report\.html \([0-9.]+ [kM]B\); open it in a browser", page)
    assert command == f"look at it: python main.py report {found.name} --runs {runs}"
    return found


def test_every_episode_is_a_line_and_can_be_replayed(evaluation: Path) -> None:
    lines = [json.loads(line) for line in (evaluation / "episodes.jsonl").read_text().splitlines()]
    assert [(line["env_id"], line["seed"]) for line in lines[:2]] == [
        ("MiniGrid-Empty-5x5-v0", 500),
        ("MiniGrid-Empty-5x5-v0", 501),
    ]
    assert all(line["steps"] == sum(map(len, line["trials"][0]["acted"])) for line in lines)
    proofs = [json.loads(line) for line in (evaluation / "proofs.jsonl").read_text().splitlines()]
    failed = [(line["env_id"], line["seed"]) for line in lines if not line["pass1"]]
    assert [(proof["env_id"], proof["seed"]) for proof in proofs] == failed
    planners = read(evaluation / "summary.json")["planners"]
    assert planners["writers"] >= 12
    assert planners.keys() <= {"writers", ""}
    assert list(lines[0])[-1] == "seconds"
    assert not list((evaluation / "state").glob("*.jsonl"))


def test_a_policy_acts_as_the_frozen_agent_does(evaluation: Path, learned: Learned) -> None:
    """A short slice of ``scripts/soak policy``."""
    lines = [json.loads(line) for line in (evaluation / "episodes.jsonl").read_text().splitlines()]
    compared = list(compare_all(learned.run, lines, "none"))
    assert [difference for _episode, difference, _cause in compared if difference] == []
    assert sum(episode["steps"] for episode, _difference, _cause in compared) > 50


@pytest.mark.long
def test_workers_change_nothing(evaluation: Path, learned: Learned, tmp_path: Path) -> None:
    done = main_py(tmp_path, "evaluate", "--agent", learned.run, *CHOICE, "--workers", 1, "--runs", tmp_path, "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    other = only_evaluation(tmp_path)
    assert timeless(other) == timeless(evaluation)
    assert (other / "summary.json").read_bytes() == (evaluation / "summary.json").read_bytes()


def is_at(runs: Path, batches: int) -> bool:
    """Whether an evaluation has begun and so many batches are in its journals, those of all stages together."""
    journals = runs.glob("*/state/*.journal.jsonl")
    return bool(list(runs.glob("*/evaluation.json"))) and batches <= sum(
        path.read_bytes().count(b'"index"') for path in journals
    )


@pytest.mark.long  # below, an evaluation that was stopped by a cap goes on
@pytest.mark.parametrize("moments", [(2,), (0, 0, 1, 1, 2, 2, 3, 3, 4, 5)])
def test_an_evaluation_that_is_killed_goes_on_to_the_same_files(
    moments: tuple[int, ...], evaluation: Path, learned: Learned, tmp_path: Path
) -> None:
    new = ("--agent", learned.run, *CHOICE)
    for moment in moments:
        known = list(tmp_path.glob("*/evaluation.json"))
        how = ("--resume", known[0].parent.name) if known else new
        with start(tmp_path, "evaluate", *how, "--workers", 1, "--runs", tmp_path) as process:
            wait_for(partial(is_at, tmp_path, moment))
            process.send_signal(signal.SIGKILL)
            process.wait(PATIENCE)
    killed = only_evaluation(tmp_path)
    assert not (killed / "summary.json").exists()
    done = main_py(tmp_path, "evaluate", "--resume", killed.name, "--runs", tmp_path, "--workers", 2)
    assert (done.returncode, done.stderr) == (0, "")
    assert timeless(killed) == timeless(evaluation)
    assert (killed / "summary.json").read_bytes() == (evaluation / "summary.json").read_bytes()


@pytest.mark.long  # it takes as long as the one that is killed
def test_an_evaluation_that_is_terminated_ends_its_workers_and_says_how_to_go_on(
    learned: Learned, tmp_path: Path
) -> None:
    with start(tmp_path, "evaluate", "--agent", learned.run, *CHOICE, "--workers", 2, "--runs", tmp_path) as process:
        wait_for(partial(is_at, tmp_path, 1))
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate(timeout=PATIENCE)
        again = f"python main.py evaluate --resume {only_evaluation(tmp_path).name} --runs {tmp_path}"
        assert (process.returncode, err) == (130, f"interrupted; go on with: {again}\n")
        wait_for(lambda: not is_group(process.pid))


def is_group(number: int) -> bool:
    """Whether there are processes in a group."""
    try:
        os.killpg(number, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_finished_evaluation_shows_its_figures_again(evaluation: Path) -> None:
    before = (evaluation / "summary.json").read_bytes()
    done = main_py(evaluation.parent, "evaluate", "--resume", evaluation.name, "--runs", evaluation.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert (evaluation / "summary.json").read_bytes() == before


@pytest.mark.long  # tests/test_main_calls.py has a cap that is raised
def test_a_cap_on_a_model_that_was_named_can_be_raised(learned: Learned, tmp_path: Path) -> None:
    agent = learned.run / read(learned.run / "state/state.json")["agent"]  # without the writers of its run
    chosen = ("--only", "MiniGrid-Empty-5x5-v0", "--seeds", "1,2", "--planner-model", "faulty/planner")
    done = main_py(tmp_path, "evaluate", "--agent", agent, *chosen, "--max-calls", 1, "--runs", tmp_path)
    name = only_evaluation(tmp_path).name
    go_on = f"python main.py evaluate --resume {name} --runs {tmp_path}"
    assert done.returncode == 3
    assert done.stderr == f"stopped: budget: 1 request was sent (--max-calls 1); go on with: {go_on} --max-calls MORE\n"
    done = main_py(tmp_path, *go_on.split()[2:], "--max-calls", 99)
    assert (done.returncode, done.stderr) == (0, "")
    assert read(tmp_path / name / "summary.json")["curriculum"]["pooled"]["pass1"]["good"] == 2
    calls = [json.loads(line) for line in (tmp_path / name / "calls.jsonl").read_text().splitlines()]
    assert len({(call["index"], call["key"]) for call in calls}) == len(calls) > 1  # none was paid twice


def test_an_episode_is_replayed_exactly(evaluation: Path) -> None:
    done = main_py(
        evaluation.parent, "replay", evaluation.name, "MiniGrid-DoorKey-5x5-v0:503", "--runs", evaluation.parent
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "re-simulation equals the recording" in done.stdout


def test_the_page_is_written_again(evaluation: Path, tmp_path: Path) -> None:
    done = main_py(evaluation.parent, "report", evaluation, "--output", tmp_path / "again.html")
    assert (done.returncode, done.stderr) == (0, "")
    pages = [read_pieces(path.read_text()) for path in (evaluation / "report.html", tmp_path / "again.html")]
    for pieces in pages:
        assert pieces["report"].pop("made") > pieces["report"]["ended"]
    assert pages[0] == pages[1]


@pytest.mark.long  # tests/spca/evaluation/test_player.py has it in this process
def test_an_agent_that_never_learned_fails_for_want_of_methods(learned: Learned, tmp_path: Path) -> None:
    shutil.copy(learned.run / "agents/agent_v0.py", tmp_path / "mine.py")
    chosen = ("--only", "MiniGrid-Empty-5x5-v0", "--seeds", "7")
    done = main_py(tmp_path, "evaluate", "--agent", "mine.py", *chosen, "--runs", tmp_path, "--workers", 1)
    assert (done.returncode, done.stderr) == (0, "")
    summary = read(only_evaluation(tmp_path) / "summary.json")
    (failed,) = summary["failed"]
    assert (failed["replay"], failed["failure"], failed["proof"]) == (
        "MiniGrid-Empty-5x5-v0:7",
        "missing_method",
        "solvable",
    )
    assert f"replay {only_evaluation(tmp_path).name} MiniGrid-Empty-5x5-v0:7" in done.stdout


def test_an_agent_that_claims_success_has_none(learned: Learned, tmp_path: Path) -> None:
    head, _, rest = (learned.run / read(learned.run / "state/state.json")["agent"]).read_text().partition(REACH_GOAL)
    claim = "        print('success ' * 10**4)\n        yield 'success'\n"
    (tmp_path / "mine.py").write_text(f"{head}{REACH_GOAL}{claim}\n    def {rest.partition(METHOD)[2]}")
    chosen = ("--only", "MiniGrid-Empty-5x5-v0", "--seeds", "7")
    done = main_py(tmp_path, "evaluate", "--agent", "mine.py", *chosen, "--runs", tmp_path, "--workers", 1)
    assert (done.returncode, done.stderr, "success success" in done.stdout) == (0, "", False)
    (failed,) = read(only_evaluation(tmp_path) / "summary.json")["failed"]
    assert failed["reason"] == "yielded 'success': actions yield primitive codes 0-6"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--agent", "nobody"), "no run 'nobody' in"),
        (("--agent", "gone.py"), "gone.py cannot be read"),
        (("--agent", "empty.py"), "empty.py: "),
        (("--seeds", "9:3"), "invalid seeds 9:3: the end, which is excluded, must be above 9"),
        (("--only", "Nothing-*"), "no episode is selected: no id matches --only 'Nothing-*'"),
        (("--only", "unlok"), "--only: no category 'unlok'"),
        (("--resume", "nothing"), "no evaluation 'nothing' in"),
        (("--attempts", "101"), "--attempts '101' is not a whole number from 1 to 100"),
        (("--planner-model", "nobody/planner"), "nobody"),
        (("--rename-words", "-1"), "--rename-words '-1' is not a whole number from 0"),
        (("--planner-model", "faulty/planner", "--workers", "2"), "--workers 2: what is asked of faulty/planner is"),
        (("--rename-words", "3", "--planner-model", "reference/planner"), "reads the true words only"),
        (("more",), 'Unexpected argument "more"'),
        ((), "no finished run in"),
    ],
)
def test_a_mistake_is_one_line(arguments: tuple[str, ...], said: str, refused: Refused) -> None:
    (refused.folder / "empty.py").write_text("x = 1\n")
    agent = () if not arguments or arguments[0] in ("--agent", "--resume") else ("--agent", refused.folder / "agent.py")
    if agent:
        shutil.copy(Path(__file__).parents[2] / "agent.py", refused.folder / "agent.py")
    assert said in refused("evaluate", *agent, *(arguments), "--runs", refused.folder / "none")


def test_an_evaluation_is_no_run(evaluation: Path, refused: Refused) -> None:
    there = ("--runs", evaluation.parent)
    assert "there is no episode 'X-v0:1'" in refused("replay", evaluation.name, "X-v0:1", *there)
    assert f"'{evaluation.name}' is an evaluation, not a run: use" in refused("--resume", evaluation.name, *there)
    assert f"'{evaluation.name}' is an evaluation, not a run: use" in refused(
        "query", evaluation.name, "select 1", *there
    )


def test_options_that_contradict_the_evaluation_are_refused(evaluation: Path, refused: Refused) -> None:
    go_on = ("evaluate", "--resume", evaluation.name, "--runs", evaluation.parent)
    assert "--seeds 5 contradicts the evaluation, which has 500:506" in refused(*go_on, "--seeds", "5")
    assert "--outside contradicts the evaluation, which was begun without" in refused(*go_on, "--outside")
