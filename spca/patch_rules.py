"""What a patch of generated code may hold, and what an action must look like (pure).

Every refusal is a :class:`~spca.errors.PatchError` whose text is meant for the coder LLM; lines are those of the patch.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from spca.agent_code import AGENT_CLASS, Layout, is_generator, layout, parse, positional
from spca.contracts import PRIMITIVE_METHODS
from spca.errors import PatchError
from spca.pddl_text import STATE_ATTRIBUTES

_ASYNC = (ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await)
_UNBOUND = ("staticmethod", "classmethod", "property")


@dataclass(slots=True)
class Patch:
    """The statements of a patch, by name where they have one."""

    text: Layout
    imports: list[ast.Import | ast.ImportFrom] = field(default_factory=list)
    constants: dict[str, ast.Assign | ast.AnnAssign] = field(default_factory=dict)
    methods: dict[str, ast.FunctionDef] = field(default_factory=dict)


def dissect(patch: str) -> Patch:
    """Sort the statements of a patch; the methods may stand at the top level or in ``class Agent:``.

    Raises:
        PatchError: the patch does not compile, or holds something that has no place in one.
    """
    tree = parse(patch)
    for node in ast.walk(tree):
        if isinstance(node, _ASYNC) or (isinstance(node, ast.comprehension) and node.is_async):
            line = node.target.lineno if isinstance(node, ast.comprehension) else node.lineno
            raise PatchError(f"line {line}: async code cannot run here; write plain generator methods")
    parts = Patch(layout(patch))
    for statement in _statements(tree):
        _sort(statement, parts)
    return parts


def check_method(node: ast.FunctionDef) -> None:
    """Refuse a method that would break the agent it is merged into.

    Raises:
        PatchError: it overrides a primitive or the agent's state, is special, or takes no ``self``.
    """
    where = f"line {node.lineno}: "
    if node.name in PRIMITIVE_METHODS:
        raise PatchError(f"{where}{node.name} is a primitive and must stay as it is; leave it out and call it")
    if node.name in STATE_ATTRIBUTES:
        raise PatchError(f"{where}a method {node.name} would hide the state attribute self.{node.name}; rename it")
    if node.name.startswith("__") and node.name.endswith("__") and node.name != "__init__":
        raise PatchError(f"{where}special method {node.name} must not be defined")
    decorators = _plain_decorators(node)
    first = "cls" if "classmethod" in decorators else "self"
    if "staticmethod" not in decorators and positional(node)[:1] != (first,):
        raise PatchError(f"{where}{node.name} becomes a method of {AGENT_CLASS}: its first parameter must be {first}")


def check_action(name: str, parameters: tuple[str, ...], node: ast.FunctionDef | None) -> None:
    """Refuse an action that the plan cannot call with as many arguments as its PDDL has parameters.

    Raises:
        PatchError: it is missing, has another signature, or is no generator.
    """
    signature = f"({', '.join(('self', *parameters))})"
    if node is None:
        raise PatchError(f"{name} is missing; define {name}{signature}")
    unbound = [decorator for decorator in _plain_decorators(node) if decorator in _UNBOUND]
    if unbound:
        raise PatchError(f"{name} must be a plain method {name}{signature}, without @{unbound[0]}")
    count = len(parameters) + 1
    taken, optional = len(positional(node)), len(node.args.defaults)
    has_required_keyword = any(default is None for default in node.args.kw_defaults)
    if not taken - optional <= count <= taken or node.args.vararg or has_required_keyword:
        raise PatchError(f"{name} must take {signature}, not ({ast.unparse(node.args)})")
    if not is_generator(node):
        raise PatchError(f"{name} must be a generator: yield primitive codes, or yield from other actions")


def check_calls(methods: Mapping[str, ast.FunctionDef], merged: Mapping[str, ast.FunctionDef]) -> None:
    """Refuse a call whose generator or primitive code is thrown away: it does nothing, which is never what was meant.

    Raises:
        PatchError: with the line of the call.
    """
    for method in methods.values():
        for node in ast.walk(method):
            match node:
                case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
                    if name in PRIMITIVE_METHODS:
                        raise PatchError(f"line {node.lineno}: self.{name}() alone does nothing; yield it")
                    if name in merged and is_generator(merged[name]):
                        raise PatchError(f"line {node.lineno}: self.{name}(...) alone does nothing; yield from it")
                case _:
                    pass


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Top-level statements and those of a ``class Agent:`` wrapper, without docstrings and bare annotations."""
    wrapped = False
    for node in tree.body:
        if not isinstance(node, ast.ClassDef):
            yield from () if _is_remark(node) else (node,)
            continue
        if node.name != AGENT_CLASS or wrapped:
            raise PatchError(f"line {node.lineno}: class {node.name} must not be defined here; write def blocks")
        wrapped = True
        for inner in node.body:
            if isinstance(inner, ast.FunctionDef):
                yield inner
            elif not _is_remark(inner):
                raise PatchError(f"line {inner.lineno}: only methods may be in the class; put constants above them")


def _sort(statement: ast.stmt, parts: Patch) -> None:
    match statement:
        case ast.Import() | ast.ImportFrom():
            _check_import(statement)
            parts.imports.append(statement)
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            _check_constant(statement, name, parts)
            parts.constants[name] = statement
        case ast.FunctionDef(name=name):
            if name in parts.methods:
                lines = f"{parts.methods[name].lineno} and {statement.lineno}"
                raise PatchError(f"lines {lines}: {name} is defined twice; define each method once")
            parts.methods[name] = statement
        case _:
            where = f"line {statement.lineno}"
            raise PatchError(f"{where}: only imports, literal constants and def blocks may be at the top level")


def _is_remark(node: ast.stmt) -> bool:
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _check_import(node: ast.Import | ast.ImportFrom) -> None:
    if isinstance(node, ast.ImportFrom) and (node.level or node.names[0].name == "*"):
        raise PatchError(f"line {node.lineno}: relative and star imports are not possible; import names from a module")


def _check_constant(node: ast.Assign | ast.AnnAssign, name: str, parts: Patch) -> None:
    if name in parts.constants:
        raise PatchError(f"line {node.lineno}: constant {name} is assigned twice")
    if name == AGENT_CLASS:
        raise PatchError(f"line {node.lineno}: {name} is the name of the class")
    try:
        ast.literal_eval(node.value or ast.Constant(None))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise PatchError(f"line {node.lineno}: {name} is not a literal; compute it inside a method") from None


def _plain_decorators(node: ast.FunctionDef) -> list[str]:
    return [decorator.id for decorator in node.decorator_list if isinstance(decorator, ast.Name)]
