"""The JSON Schema (draft 2020-12) of a task file, derived from the plan that reads the file.

``python -m gridworld.task.schema`` prints the schema; ``gridworld/task_specification.schema.json`` holds a copy for
editors. A file conforms to the schema if and only if :mod:`gridworld.task.reading` can read the file strictly and all
numbers are within bounds. The schema cannot express a few rules: keys that are given twice, ``1.0`` in place of ``1``,
and, in free metadata, the depth of nesting, the size of integers, and lone surrogates.

The first paragraph of the docstring of a dataclass becomes the description in the schema.
"""

from __future__ import annotations

import inspect
import json
import types
from dataclasses import is_dataclass
from typing import Any, Literal, Union, get_args, get_origin

from gridworld.task.forms import WRAPPER, NestedMaze
from gridworld.task.reading import MAX_INT, MAX_LIST, MAX_TEXT, MIN_INT, FieldPlan, plan_of, write
from gridworld.task_spec import TaskSpecification

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT = {
    "type": "string",
    "maxLength": MAX_TEXT,
    "pattern": r"^[^\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069\ud800-\udfff]*$",
}


def task_schema() -> dict[str, Any]:
    """Return the JSON Schema of a task file as a JSON value."""
    definitions: dict[str, Any] = {}
    task = _type(TaskSpecification, definitions)
    nested = _type(NestedMaze, definitions)
    _allow_nested(definitions["TaskSpecification"], nested)
    wrapped = {"type": "object", "properties": {WRAPPER: task}, "additionalProperties": False}
    return {
        "$schema": DIALECT,
        "title": "Gridworld task",
        "description": f'A task, or {{"{WRAPPER}": task}}.',
        "if": {"type": "object", "required": [WRAPPER]},
        "then": wrapped,
        "else": task,
        "$defs": dict(sorted(definitions.items())),
    }


def _allow_nested(task: dict[str, Any], nested: dict[str, Any]) -> None:
    """Allow the nested form of the maze, which has a ``layout``, in the schema of a task.

    Mechanisms may then be in the maze or in the task, but not in both.
    """
    flat = task["properties"]["maze"]
    task["properties"]["maze"] = {"if": {"type": "object", "required": ["layout"]}, "then": nested, "else": flat}
    nested_with_mechanisms = {"type": "object", "required": ["layout", "mechanisms"]}
    task["not"] = {"required": ["mechanisms", "maze"], "properties": {"maze": nested_with_mechanisms}}


def _type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a type; the schemas of dataclasses are added to ``definitions``."""
    origin = get_origin(hint)
    inner = get_args(hint)
    if origin in {Union, types.UnionType}:
        choices = [_type(arg, definitions) for arg in inner if arg is not type(None)]
        return {"anyOf": [*choices, {"type": "null"}]}
    if origin is Literal:
        return {"enum": list(inner)}
    if origin is list:
        return {"type": "array", "items": _type(inner[0], definitions), "maxItems": MAX_LIST}
    if origin is tuple:
        return _row(_type(inner[0], definitions), len(inner))
    if is_dataclass(hint):
        name = getattr(hint, "__name__", "")
        if name not in definitions:
            definitions[name] = {}  # ends the recursion if the dataclass contains itself
            definitions[name] = _record(hint, definitions)
        return {"$ref": f"#/$defs/{name}"}
    return _scalar(hint)


def _scalar(hint: Any) -> dict[str, Any]:
    if hint is str:
        return dict(_TEXT)
    if hint is int:
        return {"type": "integer", "minimum": MIN_INT, "maximum": MAX_INT}
    return {"type": "boolean"} if hint is bool else {"type": "object"}


def _row(items: dict[str, Any], length: int) -> dict[str, Any]:
    """Return the schema of a list of exactly ``length`` items with the schema ``items``."""
    return {"type": "array", "items": items, "minItems": length, "maxItems": length}


def _record(cls: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a dataclass: an object or, if the class has ``as_list``, an object or a list."""
    plans = plan_of(cls)
    schema: dict[str, Any] = {"type": "object", "description": _words(cls)}
    schema["properties"] = {key: _field(plan, definitions) for plan in plans for key in plan.keys}
    schema["required"] = [plan.keys[0] for plan in plans if plan.default is None]
    schema["additionalProperties"] = False
    several_keys = [{"required": list(plan.keys)} for plan in plans if len(plan.keys) > 1]
    if several_keys:  # at most one of the keys of a field may be given
        schema["not"] = {"anyOf": several_keys}
    if getattr(cls, "as_list", False):
        row = _row(_type(plans[0].hint, definitions), len(plans))
        return {"description": schema.pop("description"), "anyOf": [row, schema]}
    return schema


def _field(plan: FieldPlan, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of the value of a field, with its synonyms, bounds and default."""
    schema = _type(plan.hint, definitions)
    if plan.also:
        schema["enum"] = [*schema["enum"], *plan.also, *plan.instead]
    if plan.bounds is not None:
        numbers = schema["items"] if schema["type"] == "array" else schema
        names = ("minimum", "maximum")
        for name, bound in zip(names, plan.bounds, strict=True):
            if bound is not None:
                numbers[name] = bound
    if plan.default is not None:
        schema["default"] = write(plan.default())
    return schema


def _words(cls: Any) -> str:
    """Return the first paragraph of the docstring of a class on one line, without markup."""
    paragraph = (inspect.getdoc(cls) or "").split("\n\n")[0]
    return " ".join(paragraph.replace("``", "").split())


def schema_text() -> str:
    """Return the content of the schema file."""
    return json.dumps(task_schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(schema_text(), end="")
