"""The leaderboard: figures, comparison, episodes, and that what files say stays text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from gridworld import library
from gridworld.evaluation import cli
from gridworld.evaluation.results.leaderboard import rank_entries, read_entries
from gridworld.evaluation.results.leaderboard_page import make_page
from gridworld.rules.observation import LOOKS
from tests.support.report.pages import read_pieces

HOSTILE = (
    "</script></style>--><script>window.ran=1</script>",
    "<img src=x onerror=window.ran=1>{{7*7}}",
    '"onmouseover="window.ran=1',
    "<base href='http://127.0.0.1:9/'><a href='javascript:window.ran=1'>",
    "\x1b[2J\u202egnp",
    "w" * 5000,
)
Captured = pytest.CaptureFixture[str]


def results(
    model: str = "m",
    benchmark: str = "b",
    steps: tuple[int, ...] = (10, 20),
    *,
    finished: str = "2026-01-02T03:04:05+00:00",
    solved: bool = True,
    **changes: Any,
) -> dict[str, Any]:
    """A results file, each task with an optimum of 10 steps; ``changes`` are of its first task."""
    tasks = [
        {
            "task_id": f"task{number}",
            "success": solved,
            "steps_taken": taken,
            "optimal_steps": 10,
            "optimality_ratio": 10 / taken if solved else None,
            "available_points": 2,
            "points_earned": 20 / taken if solved else 0.0,
            "episode": _episode(f"task{number}", taken, solved),
        }
        for number, taken in enumerate(steps)
    ]
    tasks[0] |= changes
    run = {
        "finished": finished,
        "settings": {"tiling": "square", "backend": "minigrid", "seed": 42},
        "tasks": [{"task_id": each["task_id"], "sha256": "a", "tier": 1} for each in tasks],
    }
    return {"benchmark_name": benchmark, "model_name": model, "run": run, "task_results": tasks}


def _episode(task_id: str, steps: int, solved: bool) -> dict[str, Any]:
    state = {
        "agent_position": [1, 1],
        "agent_direction": 0,
        "agent_carrying": None,
        "step_count": steps,
        "max_steps": 50,
        "terminated": solved,
        "truncated": not solved,
        "reward": 0.0,
        "open_doors": [],
        "collected_keys": [],
        "active_switches": [],
        "open_gates": [],
        "block_positions": {},
        "teleporter_cooldowns": {},
        "goal_reached": solved,
        "observability_mode": "full",
        "visible_cells": [],
        "explored_cells": [],
    }
    return {
        "task_id": task_id,
        "success": solved,
        "total_reward": 0.5,
        "steps_taken": steps,
        "max_steps": 50,
        "terminated": solved,
        "truncated": not solved,
        "trajectory": [],
        "final_state": state,
        "seed": 0,
        "mission": "Go.",
        "info": {"model_seconds": 0.5, "details": {"input_tokens": 100, "output_tokens": 10, "reasoning_tokens": 4}},
    }


def poisoned(value: Any, payloads: Iterator[str], key: str = "") -> Any:
    """Every text of a results file made hostile, but for what a file cannot be read without."""
    if isinstance(value, dict):
        return {name: poisoned(item, payloads, name) for name, item in value.items()}
    if isinstance(value, list):
        return [poisoned(item, payloads, key) for item in value]
    if not isinstance(value, str) or key == "observability_mode":
        return value
    return f"{value}{next(payloads)}"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data))
    return path


def command(*arguments: object) -> int:
    return cli.main(["leaderboard", *map(str, arguments)])


class Read(HTMLParser):
    """The elements of a page and its words."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


class TestBoard:
    def test_figures_are_computed_anew(self, home: Path) -> None:
        claimed = results() | {"success_rate": 7, "point_rate": 7}
        (entry,), problems = read_entries([write(home / "r.json", claimed)])
        assert not problems
        found = entry.results
        assert (found.num_success, found.num_tasks, found.success_rate, found.point_rate) == (2, 2, 1.0, 0.75)
        assert found.avg_optimality_ratio == 0.75
        assert found.spending is not None
        assert (found.spending.tokens, found.spending.reasoning_tokens) == (220, 8)
        assert (found.spending.cost_usd, found.spending.usd) == (None, "?"), "older files do not tell"

    def test_the_best_comes_first(self, home: Path) -> None:
        given = {"slow": (20, 20), "fast": (10, 10), "half": (10, 40)}
        paths = [write(home / f"{name}.json", results(name, steps=steps)) for name, steps in given.items()]
        (group,) = rank_entries(read_entries(paths)[0])
        assert [entry.label for entry in group.entries] == ["fast", "half", "slow"]
        assert not group.is_mixed

    def test_tilings_and_benchmarks_are_kept_apart(self, home: Path) -> None:
        on_hexagons = results()
        on_hexagons["run"]["settings"]["tiling"] = "hex"
        files = [write(home / "1", results()), write(home / "2", on_hexagons), write(home / "3", results("n", "c"))]
        groups = rank_entries(read_entries(files)[0])
        assert [group.title for group in groups] == ["b", "b (hex)", "c"]

    def test_the_same_model_twice(self, home: Path) -> None:
        files = [write(home / f"{n}.json", results(finished=f"2026-01-0{n}T00:00:00+00:00")) for n in (1, 2)]
        files.append(write(home / "3.json", results(finished="2026-01-02T00:00:00+00:00")))
        (group,) = rank_entries(read_entries(files)[0])
        assert sorted(entry.label for entry in group.entries) == [
            "m · 1.json",
            "m · 2.json",
            "m · 3.json",
        ]

    def test_other_tasks_are_told(self, home: Path) -> None:
        files = [write(home / "1", results()), write(home / "2", results("n", steps=(10, 20, 30)))]
        (group,) = rank_entries(read_entries(files)[0])
        assert group.is_mixed
        assert list(group.tiers) == ["task0", "task1", "task2"]

    def test_tasks_are_the_same_where_files_say_so(self, home: Path) -> None:
        told, untold, changed, longer = results("a"), results("b"), results("c"), results("d", optimal_steps=9)
        del untold["run"], longer["run"]
        changed["run"]["tasks"][0]["sha256"] = "b"
        entries, problems = read_entries(
            [write(home / f"{n}", each) for n, each in enumerate((told, untold, changed, longer))]
        )
        assert not problems
        assert [rank_entries([entries[0], other])[0].is_mixed for other in entries] == [False, True, True, True]

    def test_equal_results_share_a_rank(self, home: Path) -> None:
        steps = {"a": (10, 10), "b": (20, 10), "c": (10, 20), "d": (20, 20)}
        files = [write(home / f"{model}.json", results(model, steps=taken)) for model, taken in steps.items()]
        (group,) = rank_entries(read_entries(files)[0])
        assert [entry.rank for entry in group.entries] == [1, 2, 2, 4]

    @pytest.mark.parametrize(
        ("change", "ending"),
        [
            ({}, "ran out of steps"),
            ({"terminated": True, "truncated": False}, "entered a hazard"),
            ({"truncated": False}, "stopped before the end"),
            ({"info": {"model_error": "no\nanswer"}}, "model error: no answer"),
        ],
    )
    def test_failures_that_ended_alike_are_described_alike(
        self, home: Path, change: dict[str, Any], ending: str
    ) -> None:
        data = results(solved=False)
        data["task_results"][0]["episode"] |= change
        entries, _ = read_entries([write(home / "r.json", data)])
        (group,) = read_pieces(make_page(rank_entries(entries)))["report"]["groups"]
        assert [outcome["ending"] for outcome in group["entries"][0]["outcomes"]] == [ending, "ran out of steps"]


BROKEN: dict[str, Any] = {
    "not_json": None,
    "a_list": [],
    "a_task": {"task_id": "t"},
    "no_results": {"benchmark_name": "b", "model_name": "m"},
    "points": results(points_earned=1e9),
    "nan": results(points_earned=float("nan")),
    "infinite": results(available_points=float("inf")),
    "ratio": results(optimality_ratio=1.5),
    "steps": results(steps_taken=-1),
    "huge": results(steps_taken=10**30),
    "zero": results(optimal_steps=0),
    "twice": results(task_id="task1"),
    "text": results(steps_taken="many"),
}


class TestCommand:
    def test_a_page(self, home: Path, capsys: Captured) -> None:
        write(home / "1.json", results("first"))
        write(home / "2.json", results("second", solved=False))
        assert command(".", "1.json", "--output", "pages/board.html") == 0
        *ranking, last = capsys.readouterr().out.splitlines()
        assert last == "page: pages/board.html (2 results, 1 benchmark); open it in a browser"
        rows = [line.split() for line in ranking if line.split()[:1] in (["#"], ["1"], ["2"])]
        assert rows[0] == ["#", "model", "points", "solved", "optimality", "tokens", "USD"]
        assert rows[1] == ["1", "first", "75.0%", "2", "of", "2", "0.750", "220", "?"]
        assert rows[2] == ["2", "second", "0.0%", "0", "of", "2", "220", "?"]
        html = (home / "pages" / "board.html").read_text()
        report = read_pieces(html)["report"]
        (group,) = report["groups"]
        assert (report["view"], group["tasks"][1], group["mixed"]) == (
            "#/benchmark/1",
            {"id": "task1", "tier": 1},
            False,
        )
        first, second = group["entries"]
        assert (first["model_name"], first["source"], first["finished"]) == ("first", "1.json", "2026-01-02 03:04")
        assert (first["point_rate"], first["rate"]["good"], second["rate"]["rate"]) == (0.75, 2, 0)
        assert 0.6 < second["rate"]["high"] < 0.7, "of two tasks, by Wilson"
        assert (first["mean_steps"], first["seconds"], first["errors"]) == (15.0, 1.0, 0)
        assert [outcome["steps_taken"] for outcome in first["outcomes"]] == [10, 20]
        assert str(home) not in json.dumps(read_pieces(html))
        assert command("1.json", "--output", "pages/board.html") == 0

    @pytest.mark.parametrize("name", BROKEN)
    def test_broken_files_are_named(self, home: Path, capsys: Captured, name: str) -> None:
        write(home / "good.json", results())
        path = home / f"{name}.json"
        path.write_text("{" if name == "not_json" else json.dumps(BROKEN[name]))
        assert command("good.json", path.name) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {path.name}: ")
        assert not (home / "leaderboard.html").exists()

    def test_all_broken_files_are_named_at_once(self, home: Path, capsys: Captured) -> None:
        (home / "a.json").touch()
        (home / "b\x1b.json").touch()
        assert command("a.json", "b\x1b.json", "absent.json") == 2
        err = capsys.readouterr().err
        assert len(err.splitlines()) == 3
        assert "\x1b" not in err

    def test_other_files_are_not_overwritten(self, home: Path, capsys: Captured) -> None:
        write(home / "r.json", results())
        (home / "leaderboard.html").write_text("mine")
        assert command("r.json") == 2
        assert "--output" in capsys.readouterr().err
        assert (home / "leaderboard.html").read_text() == "mine"

    def test_an_empty_folder(self, home: Path) -> None:
        assert command(home) == 2


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results of the baselines on a task of which the model sees a part."""
    home = tmp_path_factory.mktemp("played")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(home)
        for name, more in (("bfs", ()), ("random", ()), ("bfs", ("--tiling", "hex", "--backend", "multigrid"))):
            chosen = ("--benchmark", "tiers", "--tier", "5", "--model", name, *more, "--quiet")
            assert cli.main([*chosen, "--output", f"{name}{len(more)}.json"]) == 0
    return home


def show(path: Path, folder: Path, **changes: Any) -> dict[str, Any]:
    """The pieces of a page of one results file; ``changes`` are of its first episode."""
    data = json.loads(path.read_text())
    data["task_results"][0]["episode"] |= changes
    entries, problems = read_entries([write(folder / path.name, data)])
    assert not problems
    return read_pieces(make_page(rank_entries(entries)))


class TestEpisodes:
    @pytest.mark.parametrize(("name", "tiling", "heading"), [("bfs0", "square", "down"), ("bfs4", "hex", "down-right")])
    def test_the_grids_of_an_episode_are_played_again(
        self, played: Path, home: Path, name: str, tiling: str, heading: str
    ) -> None:
        pieces = show(played / f"{name}.json", home)
        episode, tiles = pieces["episodes-1.1"][0], pieces[f"tiles-{tiling}"]
        film, steps = episode["film"], episode["steps"]
        assert len(film["agent"]) == len(film["truth"]["steps"]) + 1 == len(steps) + 1
        assert (film["agent"][0][2], film["reward"][-1] > 0, episode["tiles"]) == (0, True, f"tiles-{tiling}")
        assert tiles["words"] == [str(look) for look in LOOKS]
        assert tiles["directions"][1] == heading
        hidden = [code for code, look in enumerate(LOOKS) if look.kind == "switch"]
        assert set(film["truth"]["first"]) & set(hidden), "everything is in the truth"
        assert film["known"]["first"].count(0) > film["truth"]["first"].count(0), "and not all of it is known"

    def test_what_is_always_seen_has_no_view(self, played: Path, home: Path) -> None:
        pieces = show(played / "bfs0.json", home)
        films = [episode["film"] for episode in pieces["episodes-1.1"]]
        views = [any(film["view"]) for film in films]
        assert views == [True, False, True, False]

    def test_what_the_model_was_told_is_told_again(self, played: Path, home: Path) -> None:
        data = json.loads((played / "bfs0.json").read_text())
        data["run"]["settings"] |= {"observation": "text", "history_text_window": 1}
        steps = data["task_results"][0]["episode"]["trajectory"]
        for step in steps:
            step["info"] = {"model_raw_output": "<think>…</think>Action: 2", "model_reasoning": "Action: 2"}
        steps[1]["info"] = {"model_planned": True}
        entries, _ = read_entries([write(home / "r.json", data)])
        first, planned, third, *_ = read_pieces(make_page(rank_entries(entries)))["episodes-1.1"][0]["steps"]
        assert first.keys() == {"action", "raw_output", "told"}, "the reasoning is in the answer"
        assert first["told"].startswith("You are at column 1, row 1 facing right.")
        assert planned.keys() == {"action", "planned"}
        assert third["told"].startswith(f"Last steps:\nstep 2: {planned['action']}: ")
        assert third["told"].count("\n\nYou are at ") == 1

    def test_an_episode_that_cannot_be_played_again_says_why(self, played: Path, home: Path) -> None:
        data = json.loads((played / "bfs0.json").read_text())
        steps = data["task_results"][0]["episode"]["trajectory"]
        for change, reason in (
            ({"trajectory": steps[:-1]}, "they would not end as the results say"),
            ({"trajectory": [*steps, steps[0]]}, "the episode is over: call reset() first"),
            ({"trajectory": [{**steps[0], "action": 99}]}, "unknown action 99; there are "),
        ):
            episode = show(played / "bfs0.json", home, **change)["episodes-1.1"][0]
            assert episode["reason"].startswith(reason)
            assert ("film" in episode, len(episode["steps"])) == (False, len(change["trajectory"]))
        data["run"]["tasks"][0]["sha256"] = sha256(b"another").hexdigest()
        entries, _ = read_entries([write(home / "r.json", data)])
        pieces = read_pieces(make_page(rank_entries(entries)))
        assert (
            pieces["episodes-1.1"][0]["reason"] == "the task does not ship with this program, or not as it was played"
        )
        assert "film" in pieces["episodes-1.1"][1]

    def test_an_unknown_tiling(self, played: Path, home: Path) -> None:
        data = json.loads((played / "bfs0.json").read_text())
        data["run"]["settings"]["tiling"] = "triangles"
        entries, _ = read_entries([write(home / "r.json", data)])
        pieces = read_pieces(make_page(rank_entries(entries)))
        assert "triangles" in pieces["episodes-1.1"][0]["reason"]
        assert not [name for name in pieces if name.startswith("tiles")]

    def test_the_command_draws_the_episode(
        self, played: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
    ) -> None:
        monkeypatch.chdir(played)
        written = show(played / "random0.json", home)["episodes-1.1"][1]["command"]
        assert cli.main(written.split()[written.split().index("draw") :]) == 0
        task = json.loads((played / "random0.json").read_text())["task_results"][1]["task_id"]
        assert capsys.readouterr().out == f"{task}.gif: {task}, 100 steps\n"

    def test_no_path_gets_into_the_page(self, played: Path, home: Path) -> None:
        details = {"run": "/home/somebody/runs/1", "usage": {"requests": 1, "cost_usd": 0.5}}
        told = {"details": details, "model_error": "/home/somebody/key.txt cannot be read"}
        pieces = show(played / "bfs0.json", home, info=told)
        assert pieces["report"]["groups"][0]["entries"][0]["outcomes"][0]["error"] == "key.txt cannot be read"
        assert pieces["episodes-1.1"][0]["spending"]["cost_usd"] == 0.5
        assert not [
            each for each in (str(played), "/home", str(library.resolve("tiers"))) if each in json.dumps(pieces)
        ]

    def test_the_page_grows_little_with_episodes(self, played: Path) -> None:
        entries, _ = read_entries([played / "random0.json"])
        pieces = len(make_page(rank_entries(entries))) - len(make_page(()))
        assert pieces < 30_000, "425 steps, of which each one has two grids"


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a value with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ():
        yield value, key
        yield from _places(value[key])


class TestHostility:
    @pytest.mark.parametrize("wrong", [None, True, -1, 1e999, 10**400, "x\x1b", [[]], {"a": {}}], ids=repr)
    def test_any_value_may_be_wrong(self, home: Path, wrong: object) -> None:
        count = len(list(_places(results(steps=(10,)))))
        paths = []
        for number in range(count):
            data = results(steps=(10,))
            container, key = list(_places(data))[number]
            container[key] = wrong
            paths.append(write(home / f"{number}.json", data))
        entries, problems = read_entries(paths)
        assert len(entries) + len(problems) == count > 50
        assert problems
        assert "\x1b" not in make_page(rank_entries(entries))

    @pytest.fixture
    def hostile_page(self, home: Path) -> Path:
        for number in range(len(HOSTILE)):  # each text gets each of them once
            payloads = islice(cycle(HOSTILE), number, None)
            data = results("n" * (number % 2), "b", solved=bool(number % 3))
            write(home / f"{number}.json", poisoned(data, payloads))
            data = results(HOSTILE[number], "c")
            data["task_results"][0]["episode"]["info"]["model_error"] = HOSTILE[number]
            write(home / f"c{number}.json", data)
        assert command(".") == 0
        return home / "leaderboard.html"

    def test_texts_stay_texts(self, hostile_page: Path) -> None:
        text = hostile_page.read_text()
        read = Read(text)
        scripts = [attrs.get("type") for tag, attrs in read.tags if tag == "script"]
        assert scripts.count(None) == 1
        assert set(scripts) == {None, "text/plain"}
        assert not {"img", "base", "iframe"} & {tag for tag, _ in read.tags}
        assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on") or name == "style"]
        assert not [hostile for hostile in ("\x1b", "\u202e", "window.ran", "{{7*7}}") if hostile in text]
        assert "{{7*7}}" in json.dumps(read_pieces(text))
