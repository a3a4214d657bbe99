"""Hypothesis strategies for missions."""

from __future__ import annotations

from hypothesis import strategies as st

from spca.reference.mission import (
    COLOURS,
    KINDS,
    After,
    And,
    Before,
    Clause,
    Description,
    GetKey,
    GoTo,
    GoToMatch,
    Instruction,
    Open,
    PickUp,
    Place,
    PutNear,
    PutNextTo,
    ReachGoal,
    Unlock,
    Way,
)


def descriptions(*kinds: str) -> st.SearchStrategy[Description]:
    colours, places = st.none() | st.sampled_from(COLOURS), st.none() | st.sampled_from(Place)
    return st.builds(Description, st.sampled_from(kinds or KINDS), colours, places, definite=st.booleans())


MOVABLE = descriptions("ball", "box", "key", "object")
BABYAI_CLAUSES: st.SearchStrategy[Clause] = (
    st.builds(GoTo, descriptions())
    | st.builds(PickUp, MOVABLE)
    | st.builds(Open, descriptions("door"))
    | st.builds(PutNextTo, MOVABLE, descriptions())
)
CLAUSES: st.SearchStrategy[Clause] = (
    BABYAI_CLAUSES
    | st.builds(Open, descriptions("box"))
    | st.builds(PutNear, MOVABLE, descriptions())
    | st.builds(GetKey, descriptions("key"), st.sampled_from(COLOURS))
    | st.builds(Unlock, descriptions("door"))
    | st.builds(ReachGoal, st.sampled_from(Way))
    | st.just(GoToMatch())
)


def instructions(clauses: st.SearchStrategy[Clause]) -> st.SearchStrategy[Instruction]:
    groups = clauses | st.builds(lambda c: And(tuple(c)), st.lists(clauses, min_size=2, max_size=3))
    ordered = st.recursive(groups, lambda more: st.builds(After, groups, more), max_leaves=3)
    return st.recursive(ordered, lambda more: st.builds(Before, ordered, more), max_leaves=3)
