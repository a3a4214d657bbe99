"""Harmless code as LLMs write it: nothing that stands around generated code may refuse or change it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache
from types import FrameType

import gymnasium  # noqa: F401 - libraries that are imported late would be seen as part of the first method
import minigrid  # noqa: F401
import pytest

from spca.contracts import AgentSource, Status
from spca.protocols import Failed
from spca.sandbox.executor import SandboxExecutor
from spca.sandbox.process.runner import FILENAME
from tests.benign.stage import STAGES, Recording, perform, repeat
from tests.benign.topics import REFERENCE, Topic, topics
from tests.support.bodies.grid import check_agent, check_patch, merge
from tests.support.inprocess import InProcessExecutor
from tests.support.spca.doubles import AGENT
from tests.support.tiers import few

LONGEST = 120
"""No action of the corpus needs more primitives on the stages."""

ALONE = 4
"""Each how many-th method is also held against the gate by itself."""

every_topic = pytest.mark.parametrize("topic", few(12, topics().values()), ids=list(topics()))
some_topics = pytest.mark.parametrize("topic", few(4, topics().values()), ids=list(topics()))


@pytest.fixture(scope="module")
def sandboxed() -> Iterator[SandboxExecutor]:
    with SandboxExecutor() as executor:
        yield executor


@cache
def whole(name: str) -> AgentSource:
    """The initial agent with all methods of a topic, merged as one patch."""
    topic = topics()[name]
    expected = {action.name: action.parameters for action in topic.actions}
    return AgentSource(merge(AGENT.text, topic.text, expected).text)


@cache
def performed(name: str) -> tuple[tuple[Recording, ...], frozenset[str]]:
    """What the actions of a topic do where nothing holds them, and names of what took part, its methods at least."""
    entered, sought = set[str](), topics()[name].methods.keys()

    def notice(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code.co_filename == FILENAME:
            entered.add(frame.f_code.co_name)
            if sought <= entered:  # looking on would double the time
                sys.setprofile(before)

    before = sys.getprofile()
    sys.setprofile(notice)
    try:
        recordings = tuple(perform(InProcessExecutor(), whole(name), topics()[name].actions))
    finally:
        sys.setprofile(before)
    return recordings, frozenset(entered)


def test_the_corpus_is_large() -> None:
    own = [topic for topic in topics().values() if topic.name != REFERENCE]
    methods = [f"{topic.name}.{method}" for topic in own for method in topic.methods]
    reference = topics()[REFERENCE].methods
    print(f"{len(methods)} methods in {len(own)} topics, and {len(reference)} reference skills")
    assert len(methods) >= 270
    assert len(methods) + len(reference) >= 330
    sources = [method.source for topic in topics().values() for method in topic.methods.values()]
    assert len(set(sources)) == len(sources)


@every_topic
def test_every_method_is_accepted_with_its_topic_and_some_alone(topic: Topic) -> None:
    refused = []
    for name in [*topic.methods][::ALONE]:
        try:
            check_patch(topic.patch([name]), AGENT.text)
        except Exception as error:  # boundary: whatever is raised, the method was refused
            refused.append(f"{name}: {error}")
    assert not refused, "\n".join(refused)
    check_agent(whole(topic.name))


@some_topics
def test_every_method_runs_to_its_end(topic: Topic) -> None:
    recordings, entered = performed(topic.name)
    assert len(recordings) == len(topic.actions) * len(STAGES)
    for recording in recordings:
        last, outcome = recording.events[-1], recording.outcome
        assert not isinstance(last, Failed), f"{recording}: {last}"
        assert outcome is not None
        assert outcome.status is not Status.STUCK, f"{recording}: {outcome.message}"
        assert len(recording.events) <= LONGEST, f"{recording}: {len(recording.events)} events"
    assert topic.methods.keys() <= entered
    moving = {recording.step.action for recording in recordings if len(recording.events) > 1}
    assert moving == {action.name for action in topic.actions}, "every action does something somewhere"


@some_topics
def test_the_wall_changes_nothing(topic: Topic, sandboxed: SandboxExecutor) -> None:
    recordings, _ = performed(topic.name)
    count = len(topics()[topic.name].actions)
    for number, recording in enumerate(recordings):
        if (number // count + number % count) % 2:  # each action on every other stage
            continue
        assert repeat(sandboxed, recording) == recording.events, str(recording)
