"""Which strings an expression may be, as far as the source says so itself (pure)."""

from __future__ import annotations

import ast
from typing import Final

from spca.sandbox.scopes import Given, Kind, Scope, Survey

MAX_STRINGS: Final = 32
"""More than these are not followed: reading a source must not take long."""

Strings = tuple[str, ...]


def strings_of(node: ast.expr, scope: Scope, found: Survey) -> Strings | None:
    """All strings that an expression may be: literals, a choice of them, names that stand for nothing else.

    None when it may be anything else.
    """
    match node:
        case ast.Constant(value=str(text)):
            return (text,)
        case ast.IfExp(body=body, orelse=orelse):
            return _all([strings_of(body, scope, found), strings_of(orelse, scope, found)])
        case ast.Name(id=name):
            return _of_name(name, scope, found, elements=False)
        case _:
            return None


def _given(given: Given, found: Survey) -> Strings | None:
    if not given.each:
        return _literals([given.value])
    match given.value:
        case ast.Tuple(elts=elements) | ast.List(elts=elements) | ast.Set(elts=elements):
            return _literals(elements)
        case ast.Name(id=name):
            return _of_name(name, given.scope, found, elements=True)
        case _:
            return None


def _tuple(given: Given) -> Strings | None:
    # A list that has a name may have grown since.
    return _literals(given.value.elts) if isinstance(given.value, ast.Tuple) and not given.each else None


def _literals(nodes: list[ast.expr]) -> Strings | None:
    texts = [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return tuple(texts) if len(texts) == len(nodes) <= MAX_STRINGS else None


def _of_name(name: str, scope: Scope, found: Survey, elements: bool) -> Strings | None:
    owner = scope.owner(name)
    hidden = scope.kind is Kind.CLASS and name in scope.bound
    if owner is None or hidden or name in found.foreign or len(owner.given[name]) > MAX_STRINGS:
        return None
    known = (id(owner), name, elements)
    if known not in found.strings:
        given = [_tuple(one) if elements else _given(one, found) for one in owner.given[name] if one is not None]
        found.strings[known] = _all(given) if len(given) == len(owner.given[name]) else None
    return found.strings[known]


def _all(parts: list[Strings | None]) -> Strings | None:
    texts: set[str] = set()
    for part in parts:
        if part is None:
            return None
        texts.update(part)
    return tuple(sorted(texts)) if len(texts) <= MAX_STRINGS else None
