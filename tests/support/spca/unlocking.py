"""A library with one action on two objects, and PDDL that calls it rightly and wrongly."""

from __future__ import annotations

from spca.contracts import AgentSource
from tests.support.spca.doubles import AGENT, answer

UNLOCK = AgentSource(
    AGENT.text
    + "\n    def unlock(self, agent, door, key):\n        for code in (2, 2, 1, 2, 2):\n            yield code\n"
)
"""Its action does nothing but walk to the goal of an empty 5x5 room."""


def unlocking(parameters: str = "?agent - agent ?door - door ?key - key", **names: str) -> str:
    """An answer whose only plan is ``unlock`` on ``door_blue`` and ``key_blue``, or on objects of other names."""
    door, key = names.get("door", "door_blue"), names.get("key", "key_blue")
    domain = (
        "(define (domain d) (:requirements :strips :typing) (:types agent door key)"
        " (:predicates (fits ?k - key ?d - door) (ready ?a - agent) (open ?d - door))"
        f" (:action unlock :parameters ({parameters}) :precondition (and (ready ?agent) (fits ?key ?door))"
        " :effect (open ?door)))"
    )
    problem = (
        f"(define (problem p) (:domain d) (:objects a1 - agent {door} - door {key} - key)"
        f" (:init (ready a1) (fits {key} {door})) (:goal (open {door})))"
    )
    return answer(domain, problem)


SWAPPED = unlocking("?agent - agent ?key - key ?door - door")
SHORT = unlocking("?agent - agent ?k - key ?d - door").replace("?key", "?k").replace("?door", "?d")
REVERSED = unlocking(door="blue_door", key="yellow_key")
"""Wrong: the parameters in another order; a key passed for a door; objects named the wrong way round."""
