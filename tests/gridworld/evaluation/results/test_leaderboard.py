"""The leaderboard: figures, comparison, and that what files say stays text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import pytest

from gridworld.evaluation import cli
from gridworld.evaluation.results.leaderboard import Outcome, grouped, overview, read_entries
from gridworld.evaluation.results.leaderboard_page import page
from tests.support import browsing

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
        assert (entry.solved, entry.tasks, entry.success_rate, entry.point_rate) == (2, 2, 1.0, 0.75)
        assert (entry.optimality, entry.mean_steps, entry.seconds) == (0.75, 15.0, 1.0)
        assert entry.spending is not None
        assert (entry.spending.tokens, entry.spending.reasoning_tokens) == (220, 8)
        assert (entry.spending.cost_usd, entry.spending.usd) == (None, "?"), "older files do not tell"

    def test_the_best_comes_first(self, home: Path) -> None:
        given = {"slow": (20, 20), "fast": (10, 10), "half": (10, 40)}
        paths = [write(home / f"{name}.json", results(name, steps=steps)) for name, steps in given.items()]
        (group,) = grouped(read_entries(paths)[0])
        assert [entry.model for entry in group.entries] == ["fast", "half", "slow"]
        assert not group.is_mixed

    def test_tilings_and_benchmarks_are_kept_apart(self, home: Path) -> None:
        on_hexagons = results()
        on_hexagons["run"]["settings"]["tiling"] = "hex"
        files = [write(home / "1", results()), write(home / "2", on_hexagons), write(home / "3", results("n", "c"))]
        groups = grouped(read_entries(files)[0])
        assert [group.title for group in groups] == ["b (hex)", "b", "c"]
        rows = dict(overview(groups))
        assert [entry is not None for entry in rows["n"]].count(True) == 1
        assert [entry is not None for entry in rows["m"]].count(True) == 2

    def test_the_same_model_twice(self, home: Path) -> None:
        files = [write(home / f"{n}.json", results(finished=f"2026-01-0{n}T00:00:00+00:00")) for n in (1, 2)]
        files.append(write(home / "3.json", results(finished="2026-01-02T00:00:00+00:00")))
        (group,) = grouped(read_entries(files)[0])
        assert sorted(entry.label for entry in group.entries) == [
            "m · 2026-01-01 00:00",
            "m · 2026-01-02 00:00 · 2.json",
            "m · 2026-01-02 00:00 · 3.json",
        ]

    def test_other_tasks_are_told(self, home: Path) -> None:
        files = [write(home / "1", results()), write(home / "2", results("n", steps=(10, 20, 30)))]
        (group,) = grouped(read_entries(files)[0])
        assert group.is_mixed
        assert group.task_ids == ("task0", "task1", "task2")

    def test_tasks_are_the_same_unless_something_says_otherwise(self, home: Path) -> None:
        told, untold, changed, longer = results("a"), results("b"), results("c"), results("d", optimal_steps=9)
        del untold["run"], longer["run"]
        changed["run"]["tasks"][0]["sha256"] = "b"
        entries, problems = read_entries(
            [write(home / f"{n}", each) for n, each in enumerate((told, untold, changed, longer))]
        )
        assert not problems
        assert [grouped([entries[0], other])[0].is_mixed for other in entries[1:]] == [False, True, True]

    @pytest.mark.parametrize(
        ("ratio", "shade"), [(1.0, "r10"), (0.99, "r9"), (0.7, "r7"), (0.3, "r3"), (0.01, "r0"), (None, "r0")]
    )
    def test_shades(self, ratio: float | None, shade: str) -> None:
        assert Outcome(True, 10, 10, ratio, "").shade == shade
        assert Outcome(False, 10, 10, None, "").shade == "fail"


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
        words = " ".join(" ".join(Read(html).words).split())
        assert all(each in words for each in ("first", "second", "75.0%", "task1", "2 of 2", "tier 1"))
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

    def test_shipped_tasks_have_pictures(self, home: Path) -> None:
        played = ["--benchmark", "tiers", "--tier", "1", "--model", "bfs", "--quiet", "--output", "r.json"]
        assert cli.main(played) == 0
        assert command("r.json") == 0
        pictures = [attrs["src"] for tag, attrs in Read((home / "leaderboard.html").read_text()).tags if tag == "img"]
        assert len(set(pictures)) == 3
        assert all(str(each).startswith("data:image/png;base64,") for each in pictures)


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
        assert "\x1b" not in page(grouped(entries), {})

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
        assert [tag for tag, _ in read.tags].count("script") == 1
        assert not {"img", "base", "iframe"} & {tag for tag, _ in read.tags}
        assert not [name for _, attrs in read.tags for name in attrs if name.startswith("on") or name == "style"]
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert "{{7*7}}" in " ".join(read.words)

    @pytest.mark.long
    def test_in_a_browser(self, hostile_page: Path, chromium: Any) -> None:
        for width in (360, 1440):
            with browsing.visit(chromium, width=width, dark=width == 360) as visit:
                shown = visit.open(browsing.address(hostile_page))
                assert shown.evaluate("window.ran") is None
                assert shown.evaluate("document.documentElement.scrollWidth") == width
                column = shown.locator("table.ranking").first.get_by_role("button", name="Mean steps")
                column.click()
                column.click()
                heads = shown.locator("table.ranking").first.locator("th[aria-sort]")
                assert heads.count() == 1
                assert heads.first.get_attribute("aria-sort") == "ascending"
                assert visit.complaints == []
                assert visit.requests == []
