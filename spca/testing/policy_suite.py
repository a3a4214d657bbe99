"""What every policy promises: an agent that acts without the loop; see :class:`spca.protocols.Policy`."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import ClassVar

import pytest

from spca.protocols import PluginWorld, Policy


class PolicySuite:
    """Promises of a policy: it returns codes of primitives, changes nothing that it is shown, and begins anew.

    Override the fixtures ``make``, which returns a function that makes the policy, and ``make_world``, which returns a
    function that builds a world for it.

    Attributes:
        steps: largest number of primitives of an episode.
        is_deterministic: whether equal episodes have equal primitives.
    """

    steps: ClassVar[int] = 50
    is_deterministic: ClassVar[bool] = True

    @pytest.fixture
    def make(self) -> Callable[[], Policy]:
        """Return a function that makes the policy to test."""
        raise NotImplementedError("override the fixture make: it returns a function that makes a policy")

    @pytest.fixture
    def make_world(self) -> Callable[[], PluginWorld]:
        """Return a function that builds a world for the policy."""
        raise NotImplementedError("override the fixture make_world: it returns a function that builds a world")

    @pytest.fixture
    def world(self, make_world: Callable[[], PluginWorld]) -> Iterator[PluginWorld]:
        """Yield a world at the start of its episode."""
        with closing(make_world()) as world:
            yield world

    def play(self, policy: Policy, world: PluginWorld) -> list[int]:
        """Return the primitives of an episode; what the policy is shown must stay as it is."""
        self.begin(policy, world)
        codes: list[int] = []
        while not world.over and len(codes) < self.steps:
            codes.append(self.act(policy, world))
        return codes

    def begin(self, policy: Policy, world: PluginWorld) -> None:
        """Reset a policy to the start of a world's episode."""
        snapshot = world.sense()
        before = copy.deepcopy(snapshot.shown)
        policy.reset(snapshot.shown, snapshot.mission)
        assert snapshot.shown == before, "a policy changes nothing that it is shown"

    def act(self, policy: Policy, world: PluginWorld) -> int:
        """Execute and return the next primitive."""
        shown = world.sense().shown
        before = copy.deepcopy(shown)
        code = policy.act(shown)
        assert shown == before, "a policy changes nothing that it is shown"
        assert type(code) is int, f"{code!r} is no whole number"
        assert 0 <= code < len(world.body.primitives)
        world.step(code)
        return code

    def test_every_act_is_a_primitive(self, make: Callable[[], Policy], world: PluginWorld) -> None:
        assert self.play(make(), world)

    def test_the_usage_is_json(self, make: Callable[[], Policy], world: PluginWorld) -> None:
        policy = make()
        self.play(policy, world)
        usage = dict(policy.usage)
        assert json.loads(json.dumps(usage, allow_nan=False)) == usage

    def test_a_reset_begins_anew(self, make: Callable[[], Policy], make_world: Callable[[], PluginWorld]) -> None:
        policy = make()
        episodes = []
        for _ in range(2):
            with closing(make_world()) as world:
                codes = self.play(policy, world)
                episodes.append((codes, dict(policy.usage)))
        if self.is_deterministic:
            assert episodes[0] == episodes[1], "equal episodes have equal primitives, and usage is that of the episode"

    def test_policies_do_not_disturb_one_another(
        self, make: Callable[[], Policy], make_world: Callable[[], PluginWorld]
    ) -> None:
        with closing(make_world()) as world:
            alone = self.play(make(), world)
        first = make()
        second = make()
        codes: list[int] = []
        with closing(make_world()) as world, closing(make_world()) as other:
            self.begin(first, world)
            self.begin(second, other)
            while not world.over and len(codes) < self.steps:
                codes.append(self.act(first, world))
                if not other.over:
                    self.act(second, other)
        if self.is_deterministic:
            assert codes == alone
