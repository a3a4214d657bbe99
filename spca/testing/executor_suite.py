"""What every Executor promises, however it contains generated code; see :class:`spca.protocols.Executor`."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest

from spca.bodies.grid.body import GRID
from spca.body import Body, Primitive, StateAttribute, StateKind
from spca.contracts import AgentSource, AgentView, PlanStep, Status
from spca.protocols import Executor, Finished, Yielded
from spca.sense.perception import EMPTY, VOCABULARY
from spca.testing.generated_code import (
    list_codes,
    list_frames,
    make_agent,
    make_steps,
    make_view,
    require_failure,
    run_steps,
)

CAT = Body(
    name="cat",
    primitives=(Primitive("purr", "Purr."), Primitive("scratch", "Scratch what is near.")),
    state=(
        StateAttribute("room", StateKind.WORDS, "the room in words."),
        StateAttribute("smells", StateKind.NUMBERS, "how strong each smell is."),
        StateAttribute("hunger", StateKind.VALUE, "how hungry the cat is."),
    ),
    words=("nothing", "mouse"),
)
"""A body with a state attribute of each kind."""


class ExecutorSuite:
    """Promises of an executor: generated code gets its arguments and its state, its primitives come back one by one.

    Codes come in order, each with its step of the plan and its line. The state is fresh after each primitive and
    read-only. Every error is a :class:`spca.protocols.Failed` that points at the generated line; none reaches the host.

    Override the fixture ``make``. A fixture ``executor`` that lives longer than a test saves time.
    """

    @pytest.fixture
    def make(self) -> Callable[[], Executor]:
        """Return a function that makes the executor to test."""
        raise NotImplementedError("override the fixture make: it returns a function that makes an executor")

    @pytest.fixture
    def executor(self, make: Callable[[], Executor]) -> Iterator[Executor]:
        """Yield the executor to test; close it afterwards, if it has ``close``."""
        made = make()
        yield made
        getattr(made, "close", lambda: None)()

    def test_codes_come_in_order_with_their_step_and_line(self, executor: Executor) -> None:
        agent = make_agent("""
            def turn(self):
                yield 0
                yield from self.twice(5)

            def twice(self, code):
                for _ in range(2):
                    yield code

            def go(self):
                yield self.move_forward()

            def move_forward(self):
                return 2
        """)
        *yielded, last = run_steps(executor, agent, make_steps("turn", "go", "turn"))
        assert isinstance(last, Finished)
        got = [(e.step.code, e.step.position, e.step.action, e.step.line) for e in yielded if isinstance(e, Yielded)]
        turn = [(0, 3), (5, 8), (5, 8)]
        assert got == [
            *((code, 0, "turn", line) for code, line in turn),
            (2, 1, "go", 11),
            *((code, 2, "turn", line) for code, line in turn),
        ]

    def test_arguments_are_passed_as_text(self, executor: Executor) -> None:
        agent = make_agent("""
            def pick(self, agent, thing, count="6"):
                yield {"a1": 3, "key_blue": 4}[thing]
                yield int(count)
        """)
        plan = (PlanStep("pick", ("x", "key_blue")), PlanStep("pick", ("x", "a1", "5")))
        assert list_codes(run_steps(executor, agent, plan)) == [4, 6, 3, 5]

    def test_arguments_go_to_the_parameters_of_their_names(self, executor: Executor) -> None:
        agent = make_agent("def pick(self, thing, agent):\n    yield {'key_blue': 4}[thing]")
        assert list_codes(run_steps(executor, agent, (PlanStep("pick", ("a1", "key_blue"), ("agent", "thing")),))) == [
            4
        ]

    def test_a_plan_without_steps_finishes(self, executor: Executor) -> None:
        assert run_steps(executor, make_agent("x = 1"), ()) == [Finished()]

    def test_an_action_may_yield_nothing(self, executor: Executor) -> None:
        agent = make_agent("""
            def look(self):
                if False:
                    yield 0
        """)
        assert run_steps(executor, agent, make_steps("look", "look")) == [Finished()]

    def test_an_endless_action_is_served_for_as_long_as_it_is_asked(self, executor: Executor) -> None:
        agent = make_agent("""
            def spin(self):
                while True:
                    yield 0
        """)
        assert list_codes(run_steps(executor, agent, make_steps("spin"), limit=300)) == [0] * 300

    def test_state_is_what_the_view_shows(self, executor: Executor) -> None:
        agent = make_agent("""
            def check(self):
                assert self.mission == "get the blue key"
                assert self.full_grid.shape == (3, 4)
                assert str(self.full_grid[0, 0]) == "key blue"
                assert str(self.full_grid[1, 2]) == "agent"
                assert (self.full_grid == "empty").sum() == 10
                assert self.current_observation.shape == (7, 7)
                assert str(self.current_observation[3, 0]) == "agent"
                assert (self.current_observation == "unseen").sum() == 48
                assert self.current_dir == "North"
                assert self.inventory is None
                assert tuple(self.start_position) == (2, 2)
                assert self.start_dir == "East"
                assert list(self.previous_actions) == [1, 2]
                yield 6
                assert list(self.previous_actions) == [1, 2, 6]
                yield 0
                assert list(self.previous_actions) == [1, 2, 6, 0]
        """)
        events = run_steps(executor, agent, make_steps("check"), previous=[1, 2])
        assert isinstance(events[-1], Finished), events[-1]

    def test_any_body_is_served(self, executor: Executor) -> None:
        agent = make_agent("""
            def check(self):
                assert self.mission == "catch a mouse"
                assert [str(word) for word in self.room] == ["mouse", "nothing"]
                assert self.smells.tolist() == [[0.5, 2.0]]
                assert self.hunger == ("very", 3)
                yield 1
                assert [str(word) for word in self.room] == ["nothing", "nothing"]
                yield 0
        """)
        first = AgentView(
            ("catch a mouse", np.array([1, 0], np.uint16), np.array([[0.5, 2.0]]), ("very", 3)), CAT.words
        )
        then = replace(first, values=(first.values[0], np.array([0, 0], np.uint16), *first.values[2:]))
        with closing(executor.start(agent, make_steps("check"), (), CAT)) as episode:
            events = [episode.advance(first), episode.advance(then), episode.advance(then)]
        assert list_codes(events) == [1, 0]
        assert isinstance(events[-1], Finished), events[-1]

    def test_state_is_fresh_after_each_yield(self, executor: Executor) -> None:
        agent = make_agent("""
            def act(self):
                words = ("East", "South", "West", "North")
                while True:
                    keys = int((self.full_grid == "key blue").sum())
                    yield {None: 0, "ball red": 1}[self.inventory] + 2 * words.index(self.current_dir) % 4 + keys
        """)
        grown = np.full((5, 5), VOCABULARY.index("key blue"), dtype=np.uint8)
        grown[1:, :] = EMPTY
        grown[0, 3:] = EMPTY
        views = [
            make_view(),
            make_view(inventory="ball red"),
            make_view(current_dir="East", full_grid=grown),
            make_view(),
        ]
        episode = executor.start(agent, make_steps("act"), (), GRID)
        got = [episode.advance(v) for v in views]
        episode.close()
        assert list_codes(got) == [0 + 2 + 1, 1 + 2 + 1, 0 + 0 + 3, 0 + 2 + 1]

    @pytest.mark.parametrize(
        "write",
        [
            "self.full_grid[:] = 'wall'",
            "self.full_grid[0, 0] = 'goal green'",
            "self.current_observation[3, 0] = 'lava'",
            "self.previous_actions.clear()",
            "self.previous_actions.append(3)",
            "self.previous_actions += [3]",
            "self.previous_actions[0] = 3",
            *(f"self.{name} = None" for name in GRID.interface.state_names),
        ],
    )
    def test_the_state_is_read_only(self, executor: Executor, write: str) -> None:
        agent = make_agent(f"""
            def vandal(self):
                yield 2
                try:
                    {write}
                except (AttributeError, TypeError, ValueError):
                    yield 6
                assert str(self.full_grid[0, 0]) == "key blue"
                assert str(self.current_observation[3, 0]) == "agent"
                assert list(self.previous_actions) == [5, 2, 6]
                assert self.mission == "get the blue key"
                assert self.inventory is None
                {write}
        """)
        shown, previous = make_view(), [5]
        kept = copy.deepcopy(shown.values)
        episode = executor.start(agent, make_steps("vandal"), previous, GRID)
        with closing(episode):
            assert list_codes([episode.advance(shown), episode.advance(shown)]) == [2, 6]
            failed = require_failure([episode.advance(shown)])
        assert failed.status is Status.RUNTIME_ERROR
        assert "read-only" in failed.message
        assert list_frames(failed) == [(13, "vandal", write)]
        assert all(np.array_equal(now, before) for now, before in zip(shown.values, kept, strict=True))
        assert previous == [5]

    def test_copies_of_the_state_may_be_written(self, executor: Executor) -> None:
        agent = make_agent("""
            def plan(self):
                grid = self.full_grid.copy()
                grid[grid == "empty"] = "wall"
                past = [*self.previous_actions, 3] + self.previous_actions[1:]
                past.append(4)
                yield int((grid == "wall").sum()) - 10 + len(past)
        """)
        assert list_codes(run_steps(executor, agent, make_steps("plan"), previous=[1, 2])) == [5]

    def test_each_episode_has_an_agent_and_a_module_of_its_own(self, executor: Executor) -> None:
        agent = AgentSource(
            "seen = []\n\n\nclass Agent:\n    kept = []\n\n    def act(self):\n"
            "        yield len(seen) + len(self.kept)\n        seen.append(1)\n        self.kept.append(1)\n"
        )
        assert list_codes(run_steps(executor, agent, make_steps("act", "act"))) == [0, 2]
        assert list_codes(run_steps(executor, agent, make_steps("act", "act"))) == [0, 2]

    def test_one_agent_carries_out_the_whole_plan(self, executor: Executor) -> None:
        agent = make_agent("""
            def first(self):
                self.memory = 4
                yield 0

            def second(self):
                yield self.memory
        """)
        assert list_codes(run_steps(executor, agent, make_steps("first", "second"))) == [0, 4]

    def test_a_missing_method_is_found_before_any_primitive(self, executor: Executor) -> None:
        agent = make_agent("""
            pick = "not a method"

            def go(self):
                yield 2
        """)
        for name in ("fly", "pick"):
            events = run_steps(executor, agent, make_steps("go", "go", name))
            assert list_codes(events) == []
            failed = require_failure(events)
            assert (failed.status, failed.position) == (Status.MISSING_METHOD, 2)
            assert name in failed.message

    def test_an_exception_after_some_primitives_points_at_its_lines(self, executor: Executor) -> None:
        agent = make_agent("""
            def ok(self):
                yield 1

            def go(self):
                yield 2
                yield from self.deeper()

            def deeper(self):
                yield from self.deepest({})

            def deepest(self, places):
                yield 3
                target = places["door"]
                yield target
        """)
        events = run_steps(executor, agent, make_steps("ok", "go", "ok"))
        assert list_codes(events) == [1, 2, 3]
        failed = require_failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 1)
        assert failed.message == "KeyError: 'door'"
        assert list_frames(failed) == [
            (7, "go", "yield from self.deeper()"),
            (10, "deeper", "yield from self.deepest({})"),
            (14, "deepest", 'target = places["door"]'),
        ]
        assert failed.traceback.endswith("KeyError: 'door'")

    def test_an_exception_in_a_plain_helper_is_shown_with_it(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                yield self.code()

            def code(self):
                return 1 // 0
        """)
        failed = require_failure(run_steps(executor, agent, make_steps("go")))
        assert failed.message.startswith("ZeroDivisionError: ")
        assert [(line, name) for line, name, _ in list_frames(failed)] == [(3, "go"), (6, "code")]

    def test_runaway_recursion_is_an_error_with_a_short_traceback(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                yield from self.go()
        """)
        failed = require_failure(run_steps(executor, agent, make_steps("go")))
        assert failed.status is Status.RUNTIME_ERROR
        assert failed.message.startswith("RecursionError")
        assert 1 <= len(list_frames(failed)) <= 20

    @pytest.mark.parametrize("value", ["'left'", "7", "-1", "True", "None", "2.0", "[1]", "10 ** 30", "self.go"])
    def test_what_is_not_a_primitive_code_is_refused(self, executor: Executor, value: str) -> None:
        agent = make_agent(f"""
            def go(self):
                yield 6
                yield from self.helper()

            def helper(self):
                yield {value}
        """)
        events = run_steps(executor, agent, make_steps("go"))
        assert list_codes(events) == [6]
        failed = require_failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)
        assert "yield" in failed.message
        assert list_frames(failed)[-1][:2] == (7, "helper")

    def test_numpy_integers_are_codes(self, executor: Executor) -> None:
        agent = AgentSource(
            "import numpy as np\n\n\nclass Agent:\n    def go(self):\n        yield np.argmax(np.array([0, 0, 9]))\n"
        )
        events = run_steps(executor, agent, make_steps("go"))
        assert list_codes(events) == [2]
        assert type(list_codes(events)[0]) is int

    @pytest.mark.parametrize("body", ["return 2", "return [1, 2]", "pass", "return iter([1])", "next(iter([]))"])
    def test_a_method_that_does_not_yield_is_a_runtime_error(self, executor: Executor, body: str) -> None:
        failed = require_failure(run_steps(executor, make_agent(f"def go(self):\n    {body}"), make_steps("go")))
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)

    def test_wrong_arguments_are_a_runtime_error(self, executor: Executor) -> None:
        agent = make_agent("""
            def ok(self):
                yield 1

            def go(self, where):
                yield 2
        """)
        events = run_steps(executor, agent, make_steps("ok", "go"))
        assert list_codes(events) == [1]
        failed = require_failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 1)
        assert "go() missing 1 required positional argument: 'where'" in failed.message

    def test_a_syntax_error_names_its_line(self, executor: Executor) -> None:
        failed = require_failure(run_steps(executor, make_agent("def go(self):\n    yield 1 +* 2"), make_steps("go")))
        assert (failed.status, failed.position) == (Status.SYNTAX_ERROR, None)
        assert "line 3" in failed.message + failed.traceback
        assert "yield 1 +* 2" in failed.traceback

    @pytest.mark.parametrize(
        "text",
        [
            "",
            "class Robot:\n    pass\n",
            "Agent = 3\n",
            "class Agent:\n    code = undefined\n",
            "import a_module_that_does_not_exist\n\n\nclass Agent:\n    pass\n",
            "class Agent:\n    def __init__(self, size):\n        self.size = size\n",
            "class Agent:\n\tdef go(self):\n        yield 1\n",
            "class Agent:\n    x = 'a\0b'\n",
        ],
    )
    def test_a_module_that_does_not_load_is_a_syntax_error(self, executor: Executor, text: str) -> None:
        failed = require_failure(run_steps(executor, AgentSource(text), make_steps("go")))
        assert (failed.status, failed.position) == (Status.SYNTAX_ERROR, None)
        assert failed.message

    def test_messages_stay_short(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                yield 0
                raise ValueError("x" * 100000)
        """)
        failed = require_failure(run_steps(executor, agent, make_steps("go")))
        assert failed.status is Status.RUNTIME_ERROR
        assert len(failed.message) + len(failed.traceback) < 10000

    def test_what_generated_code_prints_is_kept_from_our_output(
        self, executor: Executor, capfd: pytest.CaptureFixture[str]
    ) -> None:
        agent = make_agent("""
            def go(self):
                print("hello", 1, sep="-", end="!")
                yield 1
                print()
                print("bye", None, [2])
        """)
        with closing(executor.start(agent, make_steps("go"), (), GRID)) as episode:
            assert list_codes([episode.advance(make_view())]) == [1]
            assert episode.printed == "hello-1!"
            assert isinstance(episode.advance(make_view()), Finished)
            assert episode.printed == "hello-1!\nbye None [2]\n"
        assert capfd.readouterr().out == ""

    def test_much_print_is_cut(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                for _ in range(100):
                    print("\u00e9" * 100)
                yield 1
        """)
        with closing(executor.start(agent, make_steps("go"), (), GRID)) as episode:
            assert list_codes([episode.advance(make_view())]) == [1]
            assert 1000 <= len(episode.printed) <= 4096

    def test_closing_is_allowed_at_any_time_and_twice(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                try:
                    yield 1
                finally:
                    yield 2
        """)
        for advances in range(4):
            episode = executor.start(agent, make_steps("go"), (), GRID)
            for _ in range(advances):
                episode.advance(make_view())
            episode.close()
            episode.close()

    def test_episodes_do_not_disturb_one_another(self, executor: Executor) -> None:
        agent = make_agent("""
            def go(self):
                for code in range(7):
                    yield code
        """)
        one, other = (
            executor.start(agent, make_steps("go"), (), GRID),
            executor.start(agent, make_steps("go"), (), GRID),
        )
        assert list_codes(
            [one.advance(make_view()), one.advance(make_view()), other.advance(make_view()), one.advance(make_view())]
        ) == [
            0,
            1,
            0,
            2,
        ]
        one.close()
        assert list_codes([other.advance(make_view())]) == [1]
        other.close()
