"""The policy's rules for methods and for the nodes inside a definition, one rule per node type (pure).

Each rule yields the faults of a node without its children. A fault is a text that names what is refused, and says what
to do instead.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Any, Final

from spca.body import AgentInterface
from spca.code import agent_source
from spca.code.policy.available import (
    CONSTANT_CALLS,
    DECORATORS,
    REFUSED_BUILTINS,
    SEED_WORDS,
    SEEDED,
    fault_of_member,
    fault_of_module,
)
from spca.code.policy.names import Names

Words = Iterator[str]
"""Iterator over faults, each as a text."""

_MUTATORS: Final = frozenset(
    (
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "clear",
        "sort",
        "reverse",
        "fill",
        "put",
        "itemset",
        "resize",
        "partition",
        "setfield",
    )
)
"""Names of methods that change an array or list in place."""


def check_node(node: ast.AST, names: Names) -> Words:
    """Yield the faults of a node, except faults that depend on where the node stands."""
    rule = _RULES.get(type(node))
    return rule(node, names) if rule else iter(())


def check_method_name(node: ast.FunctionDef | ast.AsyncFunctionDef, interface: AgentInterface) -> Words:
    """Yield the faults of a method's name."""
    if node.name in interface.primitives:
        if not _is_original(node, interface.primitives.index(node.name)):
            yield f"{node.name} is a primitive and must stay as it is; leave it out and call it"
    elif node.name in interface.state_names:
        yield f"a method {node.name} would hide the state attribute self.{node.name}; rename it"
    elif is_dunder(node.name) and node.name != "__init__":
        yield f"special method {node.name} must not be defined"


def check_head(node: ast.FunctionDef | ast.AsyncFunctionDef, names: Names) -> Words:
    """Yield the faults of the code that runs when a function is defined: decorators, defaults and annotations."""
    for decorator in node.decorator_list:
        named = decorator.func if isinstance(decorator, ast.Call) else decorator
        match decorator:
            case ast.Attribute(value=ast.Name(), attr="setter" | "getter" | "deleter"):
                continue
        if names.full_name(named) not in DECORATORS:
            known = ", ".join(sorted(name.rpartition(".")[2] for name in DECORATORS))
            yield f"{node.name} has a decorator that is not available; available are {known}"
        elif isinstance(decorator, ast.Call):
            given = (*decorator.args, *(keyword.value for keyword in decorator.keywords))
            if not all(isinstance(value, ast.Constant) for value in given):
                yield f"the arguments of the decorator of {node.name} must be literals"
    args = node.args
    parameters = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
    annotations = [arg.annotation for arg in parameters if arg]
    values = (*args.defaults, *args.kw_defaults, node.returns, *annotations)
    if not all(is_constant(value, names, any_name=True) for value in values if value is not None):
        yield f"the defaults and annotations of {node.name} must be constants; compute them inside the method"


def is_constant(node: ast.expr, names: Names, any_name: bool, in_call: bool = False) -> bool:
    """Return whether an expression is a constant: literals, arithmetic, tuples and a few harmless calls.

    A constant may use the names of builtins and imports; if ``any_name``, it may use any name. Within the arguments of
    a call (``in_call``), lambdas and unknown names are forbidden, because the call could execute a method.
    """
    if isinstance(node, ast.Name):
        is_allowed = any_name and (not in_call or node.id in names.meanings)
        return is_allowed or bool(names.full_name(node))
    if isinstance(node, ast.Lambda):
        return any_name and not in_call
    if isinstance(node, ast.Call):
        if names.full_name(node.func) not in CONSTANT_CALLS:
            return False
        parts = (*node.args, *(keyword.value for keyword in node.keywords))
        return all(is_constant(part, names, any_name, in_call=True) for part in parts)
    if not isinstance(node, _CONSTANT_PARTS):
        return False
    inner = (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
    return all(is_constant(part, names, any_name, in_call) for part in inner)


def is_dunder(name: str) -> bool:
    """Return whether a name has double underscores on both sides."""
    return name.startswith("__") and name.endswith("__") and len(name) > 4


def _is_original(node: ast.FunctionDef | ast.AsyncFunctionDef, own_code: int) -> bool:
    """Return whether a method is an unchanged primitive, which only returns its own code."""
    body = node.body[1:] if ast.get_docstring(node) is not None else node.body
    match body:
        case [ast.Return(value=ast.Constant(value=int(code)))]:
            is_code = code == own_code and not isinstance(code, bool)
            return is_code and not node.decorator_list and ast.unparse(node.args) == "self"
        case _:
            return False


def _check_import(node: ast.Import, _names: Names) -> Words:
    yield from (fault_of_module(alias.name) for alias in node.names)


def _check_import_from(node: ast.ImportFrom, _names: Names) -> Words:
    module = node.module or ""
    if node.level or node.names[0].name == "*":
        yield "relative and star imports are not possible; import names from a module"
    elif fault := fault_of_module(module):
        yield fault
    else:
        yield from (fault_of_member(module, alias.name) for alias in node.names)


def _check_name(node: ast.Name, names: Names) -> Words:
    is_refused = isinstance(node.ctx, ast.Load) and node.id in REFUSED_BUILTINS
    if is_refused and names.full_name(node) == node.id:
        yield f"{node.id} is not available: {REFUSED_BUILTINS[node.id]}"


def _check_attribute(node: ast.Attribute, names: Names) -> Words:
    if not isinstance(node.ctx, ast.Load):
        yield _fault_of_write(node, names)
    elif names.full_name(node):
        yield fault_of_member(names.full_name(node.value), node.attr)


def _check_subscript(node: ast.Subscript, names: Names) -> Words:
    """Yield the faults of an assignment to an item.

    In ``a.b[0].c[1] = x``, for example, the attributes ``b`` and ``c`` count as written.
    """
    if isinstance(node.ctx, ast.Load):
        return
    inner: ast.expr = node
    while isinstance(inner, ast.Attribute | ast.Subscript):
        if isinstance(inner, ast.Attribute) and inner.attr not in names.interface.primitives:
            yield _fault_of_write(inner, names)
        inner = inner.value


def _fault_of_write(node: ast.Attribute, names: Names) -> str:
    """Return why an attribute must not be written; "" if the write is allowed."""
    match node.value:
        case ast.Name(id=agent_source.AGENT_CLASS) | ast.Call(func=ast.Name(id="type"), args=[ast.Name(id="self")]):
            return f"attributes of class {agent_source.AGENT_CLASS} must not be assigned; keep values on self"
        case ast.Name(id="self") if names.self_is_agent and node.attr in names.interface.state_names:
            return f"self.{node.attr} is read-only, the world keeps it; work on a copy"
        case ast.Name(id="self") if names.self_is_agent and node.attr in names.interface.primitives:
            return f"self.{node.attr} is a primitive and must stay as it is"
        case _:
            return ""


def _check_call(node: ast.Call, names: Names) -> Words:
    """Yield the faults of a call: ``getattr`` with a computed name, a missing seed, or a change of the state."""
    function = names.full_name(node.func)
    if function == "getattr":
        if any(isinstance(name, _COMPUTED) for name in node.args[1:2]):
            yield "getattr needs a name that the source spells out; choose between methods with if"
    elif function in SEEDED and _is_unseeded(node):
        yield f"give {function.rpartition('.')[2]} a seed, such as 0: runs must be repeatable"
    match node.func:
        case ast.Attribute(value=ast.Attribute(attr=state) as written, attr=method):
            if method in _MUTATORS and state in names.interface.array_names:
                yield _fault_of_write(written, names)


def _is_unseeded(node: ast.Call) -> bool:
    """Return whether a call passes no seed, or None as the seed."""
    # A mapping that is unpacked (its keyword has no name) may contain the seed.
    by_keyword = [keyword.value for keyword in node.keywords if keyword.arg in (None, *SEED_WORDS)]
    given = node.args[:1] or by_keyword
    return all(isinstance(value, ast.Constant) and value.value is None for value in given)


def _check_global(node: ast.Global, _names: Names) -> Words:
    yield f"global {', '.join(node.names)} is not possible: keep values on self"


def _check_async(node: ast.AST, _names: Names) -> Words:
    if not isinstance(node, ast.comprehension) or node.is_async:
        yield "async code cannot run here; write plain generator methods"


_COMPUTED: Final = (ast.JoinedStr, ast.BinOp, ast.Call)
_CONSTANT_PARTS: Final = (
    ast.Constant,
    ast.UnaryOp,
    ast.BinOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.Subscript,
    ast.Slice,
    ast.Starred,
    ast.Attribute,
    ast.JoinedStr,
    ast.FormattedValue,
)
_RULES: Final[dict[type[ast.AST], Callable[[Any, Names], Words]]] = {
    ast.Import: _check_import,
    ast.ImportFrom: _check_import_from,
    ast.Name: _check_name,
    ast.Attribute: _check_attribute,
    ast.Subscript: _check_subscript,
    ast.Call: _check_call,
    ast.Global: _check_global,
    ast.comprehension: _check_async,
    ast.AsyncFunctionDef: _check_async,
    ast.AsyncFor: _check_async,
    ast.AsyncWith: _check_async,
    ast.Await: _check_async,
}
