"""What every Executor keeps, however it contains generated code.

Derive a test class from :class:`ExecutorSuite` and give it an ``executor`` fixture.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest

from spca.contracts import AgentSource, PlanStep, Status
from spca.plan.pddl import STATE_ATTRIBUTES
from spca.protocols import Executor, Finished, Yielded
from spca.sense.perception import EMPTY, VOCABULARY
from tests.support.contracts.executing import codes, failure, methods, pointed_at, run, steps, view


class ExecutorSuite:
    """Inherit and override ``executor``."""

    @pytest.fixture
    def executor(self) -> Iterator[Executor]:
        raise NotImplementedError

    def test_codes_come_in_order_with_their_step_and_line(self, executor: Executor) -> None:
        agent = methods("""
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
        *yielded, last = run(executor, agent, steps("turn", "go", "turn"))
        assert isinstance(last, Finished)
        got = [(e.step.code, e.step.position, e.step.action, e.step.line) for e in yielded if isinstance(e, Yielded)]
        turn = [(0, 3), (5, 8), (5, 8)]
        assert got == [
            *((code, 0, "turn", line) for code, line in turn),
            (2, 1, "go", 11),
            *((code, 2, "turn", line) for code, line in turn),
        ]

    def test_arguments_are_passed_as_text(self, executor: Executor) -> None:
        agent = methods("""
            def pick(self, agent, thing, count="6"):
                yield {"a1": 3, "key_blue": 4}[thing]
                yield int(count)
        """)
        plan = (PlanStep("pick", ("x", "key_blue")), PlanStep("pick", ("x", "a1", "5")))
        assert codes(run(executor, agent, plan)) == [4, 6, 3, 5]

    def test_arguments_go_to_the_parameters_of_their_names(self, executor: Executor) -> None:
        agent = methods("def pick(self, thing, agent):\n    yield {'key_blue': 4}[thing]")
        assert codes(run(executor, agent, (PlanStep("pick", ("a1", "key_blue"), ("agent", "thing")),))) == [4]

    def test_a_plan_without_steps_finishes(self, executor: Executor) -> None:
        assert run(executor, methods("x = 1"), ()) == [Finished()]

    def test_an_action_may_yield_nothing(self, executor: Executor) -> None:
        agent = methods("""
            def look(self):
                if False:
                    yield 0
        """)
        assert run(executor, agent, steps("look", "look")) == [Finished()]

    def test_an_endless_action_is_served_for_as_long_as_it_is_asked(self, executor: Executor) -> None:
        agent = methods("""
            def spin(self):
                while True:
                    yield 0
        """)
        assert codes(run(executor, agent, steps("spin"), limit=300)) == [0] * 300

    def test_state_is_what_the_view_shows(self, executor: Executor) -> None:
        agent = methods("""
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
        events = run(executor, agent, steps("check"), previous=[1, 2])
        assert isinstance(events[-1], Finished), events[-1]

    def test_state_is_fresh_after_each_yield(self, executor: Executor) -> None:
        agent = methods("""
            def act(self):
                words = ("East", "South", "West", "North")
                while True:
                    keys = int((self.full_grid == "key blue").sum())
                    yield {None: 0, "ball red": 1}[self.inventory] + 2 * words.index(self.current_dir) % 4 + keys
        """)
        grown = np.full((5, 5), VOCABULARY.index("key blue"), dtype=np.uint8)
        grown[1:, :] = EMPTY
        grown[0, 3:] = EMPTY
        views = [view(), view(inventory="ball red"), view(direction=0, full_grid=grown), view()]
        episode = executor.start(agent, steps("act"), ())
        got = [episode.advance(v) for v in views]
        episode.close()
        assert codes(got) == [0 + 2 + 1, 1 + 2 + 1, 0 + 0 + 3, 0 + 2 + 1]

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
            *(f"self.{name} = None" for name in STATE_ATTRIBUTES),
        ],
    )
    def test_the_state_is_read_only(self, executor: Executor, write: str) -> None:
        agent = methods(f"""
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
        shown, previous = view(), [5]
        grid, observation = shown.full_grid.copy(), shown.observation.copy()
        episode = executor.start(agent, steps("vandal"), previous)
        with closing(episode):
            assert codes([episode.advance(shown), episode.advance(shown)]) == [2, 6]
            failed = failure([episode.advance(shown)])
        assert failed.status is Status.RUNTIME_ERROR
        assert "read-only" in failed.message
        assert pointed_at(failed) == [(13, "vandal", write)]
        assert np.array_equal(shown.full_grid, grid)
        assert np.array_equal(shown.observation, observation)
        assert previous == [5]

    def test_copies_of_the_state_may_be_written(self, executor: Executor) -> None:
        agent = methods("""
            def plan(self):
                grid = self.full_grid.copy()
                grid[grid == "empty"] = "wall"
                past = [*self.previous_actions, 3] + self.previous_actions[1:]
                past.append(4)
                yield int((grid == "wall").sum()) - 10 + len(past)
        """)
        assert codes(run(executor, agent, steps("plan"), previous=[1, 2])) == [5]

    def test_each_episode_has_an_agent_and_a_module_of_its_own(self, executor: Executor) -> None:
        agent = AgentSource(
            "seen = []\n\n\nclass Agent:\n    kept = []\n\n    def act(self):\n"
            "        yield len(seen) + len(self.kept)\n        seen.append(1)\n        self.kept.append(1)\n"
        )
        assert codes(run(executor, agent, steps("act", "act"))) == [0, 2]
        assert codes(run(executor, agent, steps("act", "act"))) == [0, 2]

    def test_one_agent_carries_out_the_whole_plan(self, executor: Executor) -> None:
        agent = methods("""
            def first(self):
                self.memory = 4
                yield 0

            def second(self):
                yield self.memory
        """)
        assert codes(run(executor, agent, steps("first", "second"))) == [0, 4]

    def test_a_missing_method_is_found_before_any_primitive(self, executor: Executor) -> None:
        agent = methods("""
            pick = "not a method"

            def go(self):
                yield 2
        """)
        for name in ("fly", "pick"):
            events = run(executor, agent, steps("go", "go", name))
            assert codes(events) == []
            failed = failure(events)
            assert (failed.status, failed.position) == (Status.MISSING_METHOD, 2)
            assert name in failed.message

    def test_an_exception_after_some_primitives_points_at_its_lines(self, executor: Executor) -> None:
        agent = methods("""
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
        events = run(executor, agent, steps("ok", "go", "ok"))
        assert codes(events) == [1, 2, 3]
        failed = failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 1)
        assert failed.message == "KeyError: 'door'"
        assert pointed_at(failed) == [
            (7, "go", "yield from self.deeper()"),
            (10, "deeper", "yield from self.deepest({})"),
            (14, "deepest", 'target = places["door"]'),
        ]
        assert failed.traceback.endswith("KeyError: 'door'")

    def test_an_exception_in_a_plain_helper_is_shown_with_it(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                yield self.code()

            def code(self):
                return 1 // 0
        """)
        failed = failure(run(executor, agent, steps("go")))
        assert failed.message.startswith("ZeroDivisionError: ")
        assert [(line, name) for line, name, _ in pointed_at(failed)] == [(3, "go"), (6, "code")]

    def test_runaway_recursion_is_an_error_with_a_short_traceback(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                yield from self.go()
        """)
        failed = failure(run(executor, agent, steps("go")))
        assert failed.status is Status.RUNTIME_ERROR
        assert failed.message.startswith("RecursionError")
        assert 1 <= len(pointed_at(failed)) <= 20

    @pytest.mark.parametrize("value", ["'left'", "7", "-1", "True", "None", "2.0", "[1]", "10 ** 30", "self.go"])
    def test_what_is_not_a_primitive_code_is_refused(self, executor: Executor, value: str) -> None:
        agent = methods(f"""
            def go(self):
                yield 6
                yield from self.helper()

            def helper(self):
                yield {value}
        """)
        events = run(executor, agent, steps("go"))
        assert codes(events) == [6]
        failed = failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)
        assert "yield" in failed.message
        assert pointed_at(failed)[-1][:2] == (7, "helper")

    def test_numpy_integers_are_codes(self, executor: Executor) -> None:
        agent = AgentSource(
            "import numpy as np\n\n\nclass Agent:\n    def go(self):\n        yield np.argmax(np.array([0, 0, 9]))\n"
        )
        events = run(executor, agent, steps("go"))
        assert codes(events) == [2]
        assert type(codes(events)[0]) is int

    @pytest.mark.parametrize("body", ["return 2", "return [1, 2]", "pass", "return iter([1])", "next(iter([]))"])
    def test_a_method_that_does_not_yield_is_a_runtime_error(self, executor: Executor, body: str) -> None:
        failed = failure(run(executor, methods(f"def go(self):\n    {body}"), steps("go")))
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 0)

    def test_wrong_arguments_are_a_runtime_error(self, executor: Executor) -> None:
        agent = methods("""
            def ok(self):
                yield 1

            def go(self, where):
                yield 2
        """)
        events = run(executor, agent, steps("ok", "go"))
        assert codes(events) == [1]
        failed = failure(events)
        assert (failed.status, failed.position) == (Status.RUNTIME_ERROR, 1)
        assert "go() missing 1 required positional argument: 'where'" in failed.message

    def test_a_syntax_error_names_its_line(self, executor: Executor) -> None:
        failed = failure(run(executor, methods("def go(self):\n    yield 1 +* 2"), steps("go")))
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
        failed = failure(run(executor, AgentSource(text), steps("go")))
        assert (failed.status, failed.position) == (Status.SYNTAX_ERROR, None)
        assert failed.message

    def test_messages_stay_short(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                yield 0
                raise ValueError("x" * 100000)
        """)
        failed = failure(run(executor, agent, steps("go")))
        assert failed.status is Status.RUNTIME_ERROR
        assert len(failed.message) + len(failed.traceback) < 10000

    def test_what_generated_code_prints_is_kept_from_our_output(
        self, executor: Executor, capfd: pytest.CaptureFixture[str]
    ) -> None:
        agent = methods("""
            def go(self):
                print("hello", 1, sep="-", end="!")
                yield 1
                print()
                print("bye", None, [2])
        """)
        with closing(executor.start(agent, steps("go"), ())) as episode:
            assert codes([episode.advance(view())]) == [1]
            assert episode.printed == "hello-1!"
            assert isinstance(episode.advance(view()), Finished)
            assert episode.printed == "hello-1!\nbye None [2]\n"
        assert capfd.readouterr().out == ""

    def test_much_print_is_cut(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                for _ in range(100):
                    print("\u00e9" * 100)
                yield 1
        """)
        with closing(executor.start(agent, steps("go"), ())) as episode:
            assert codes([episode.advance(view())]) == [1]
            assert 1000 <= len(episode.printed) <= 4096

    def test_closing_is_allowed_at_any_time_and_twice(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                try:
                    yield 1
                finally:
                    yield 2
        """)
        for advances in range(4):
            episode = executor.start(agent, steps("go"), ())
            for _ in range(advances):
                episode.advance(view())
            episode.close()
            episode.close()

    def test_episodes_do_not_disturb_one_another(self, executor: Executor) -> None:
        agent = methods("""
            def go(self):
                for code in range(7):
                    yield code
        """)
        one, other = executor.start(agent, steps("go"), ()), executor.start(agent, steps("go"), ())
        assert codes([one.advance(view()), one.advance(view()), other.advance(view()), one.advance(view())]) == [
            0,
            1,
            0,
            2,
        ]
        one.close()
        assert codes([other.advance(view())]) == [1]
        other.close()
