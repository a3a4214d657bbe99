"""Any task whose values have the right types, sensible or not, drawn from the types themselves."""

from __future__ import annotations

import types
from dataclasses import is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from hypothesis import strategies as st

from gridworld.task.reading import MAX_INT, MIN_INT, plan_of
from gridworld.task_spec import TaskSpecification

TEXTS = st.text("ab1 :,.\\\"'\u00e9\u65e5\U0001f511", max_size=4)
INTEGERS = st.integers(-3, 12) | st.integers(MIN_INT, MAX_INT)
FRACTIONS = st.floats(-1e9, 1e9).filter(lambda number: not number.is_integer())  # to a schema, 1.0 is an integer
JSON = st.recursive(
    st.none() | st.booleans() | INTEGERS | FRACTIONS | TEXTS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXTS, inner, max_size=2),
    max_leaves=4,
)


def typed(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type of the format."""
    origin, inner = get_origin(hint), get_args(hint)
    if is_dataclass(hint):
        return st.builds(hint, **{plan.name: typed(plan.hint) for plan in plan_of(hint)})  # type: ignore[arg-type]
    return {
        Union: lambda: st.none() | typed(inner[0]),
        types.UnionType: lambda: st.none() | typed(inner[0]),
        Literal: lambda: st.sampled_from(inner),
        list: lambda: st.lists(typed(inner[0]), max_size=2),
        tuple: lambda: st.tuples(*map(typed, inner)),
        dict: lambda: st.dictionaries(TEXTS, JSON, max_size=2),
        str: lambda: TEXTS,
        int: lambda: INTEGERS,
        bool: st.booleans,
    }[origin or hint]()


SPECS: st.SearchStrategy[TaskSpecification] = typed(TaskSpecification)
