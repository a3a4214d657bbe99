"""PDDL and plans as text: action schemas, names in PDDL and in Python, and faults with their lines.

PDDL names are case-insensitive and may contain hyphens; agents are written in Python. Therefore this module treats
``Pick-Up`` and ``pick_up`` as the same name, with the Python spelling ``pick_up``. The Python spelling also undoes the
renamings of planning libraries. All functions take linear time in the length of the text and use no recursion, so
that hostile texts are harmless.
"""

from __future__ import annotations

import keyword
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import NamedTuple

from spca.body import NO_INTERFACE, AgentInterface
from spca.contracts import ActionSchema, Plan, PlannedAction, PlannerMode, PlanStep, SolveResult
from spca.errors import PlanTextError

MAX_CHARS = 200_000
"""Largest number of characters of a domain or problem."""

MAX_DEPTH = 100
"""Largest number of nested parentheses in a domain or problem."""

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+")
_WORD_OR_COMMENT = re.compile(r";[^\n]*|[()]|[^() \t\r\n]+")
_HEAD_TOKENS = 3  # "(", ":action" and the name
_STEP = re.compile(r"\s*([^\s(),\[\]]+)\(([^()\[\]]*)\)\s*")
_SECTION = re.compile(r":(types|constants|predicates|functions|action|objects|init|goal|metric)", re.IGNORECASE)


class _Token(NamedTuple):
    """A parenthesis or word, with its offset in the PDDL text."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def python_name(pddl: str) -> str:
    """Return the Python spelling of a PDDL name: lower case, with underscores instead of hyphens.

    For example, ``Pick-Up`` becomes ``pick_up``.
    """
    return pddl.lower().replace("-", "_")


@lru_cache(maxsize=64)
def extract_actions(domain: str, interface: AgentInterface = NO_INTERFACE) -> tuple[ActionSchema, ...]:
    """Return every ``(:action ...)`` block of a domain, verbatim, in source order.

    Args:
        interface: names of the agent's primitives and state, which no action may have.

    Raises:
        PlanTextError: a block is not closed, has no name, or has a name that cannot be a method of the agent.
    """
    tokens = _tokens(domain)
    written: dict[str, str] = {}
    schemas: list[ActionSchema] = []
    for start, end in _forms(domain, tokens, ":action"):
        form = tokens[start:end]
        name = _register_action(written, domain, form, interface)
        block = domain[form[0].start : form[-1].end]
        schemas.append(ActionSchema(name, _parameters(name, form), block))
    return tuple(schemas)


def words(text: str) -> list[str] | None:
    """Return the parentheses and words of a PDDL text in lower case, without comments.

    Texts with equal words have the same meaning. If a comment touches a word, return None, because PDDL readers
    disagree about the end of that word.
    """
    found = _WORD_OR_COMMENT.findall(text.lower())
    if ";" not in text:
        return found
    kept = [word for word in found if word[0] != ";"]
    return None if any(";" in word for word in kept) else kept


@dataclass(frozen=True, slots=True)
class NameMap:
    """The names of one domain and problem in Python spelling.

    Attributes:
        actions: the names of the actions.
        objects: maps the name of each object to its spelling in the PDDL text.
    """

    actions: frozenset[str]
    objects: Mapping[str, str]

    @classmethod
    def from_pddl(cls, domain: str, problem: str, interface: AgentInterface = NO_INTERFACE) -> NameMap:
        """Return the names of the actions, constants and objects in two PDDL texts.

        Args:
            interface: names of the agent's primitives and state, which no action may have.

        Raises:
            PlanTextError: two names become the same name in Python, or an action's name cannot be a method of the
                agent.
        """
        objects = dict(_constants(domain))
        for name in _iterate_declared(problem, _tokens(problem), ":objects"):
            _register(objects, name, "objects")
        return cls(frozenset(schema.name for schema in extract_actions(domain, interface)), objects)

    def step(self, planned: PlannedAction) -> PlanStep:
        """Return a planned action as a plan step with Python names, whatever spelling the planner uses.

        Raises:
            PlanTextError: the PDDL does not declare the action or an object.
        """
        args = tuple(_require_known(self.objects, arg, "object") for arg in planned.args)
        return PlanStep(_require_known(self.actions, planned.name, "action"), args)


@lru_cache(maxsize=64)
def _constants(domain: str) -> Mapping[str, str]:
    """Map the Python name of each constant of a domain to its spelling in the text."""
    constants: dict[str, str] = {}
    for name in _iterate_declared(domain, _tokens(domain), ":constants"):
        _register(constants, name, "objects")
    return MappingProxyType(constants)


def plan_of(
    solve: Callable[[str, str], SolveResult],
    domain: str,
    problem: str,
    mode: PlannerMode,
    interface: AgentInterface,
) -> Plan | str:
    """Return the validated plan that ``solve`` finds for the domain and problem.

    If no plan is found, return the reason as text.

    Args:
        interface: names of the agent's primitives and state, which no action may have.
    """
    try:
        schemas = {schema.name: schema for schema in extract_actions(domain, interface)}
        names = NameMap.from_pddl(domain, problem, interface)
        result = solve(domain, problem)
        if not result.solved:
            return f"{result.status.value}: {result.message}"
        steps = tuple(map(names.step, result.steps))
    except PlanTextError as error:
        return str(error)
    steps = tuple(replace(step, parameters=schemas[step.action].parameters) for step in steps)
    used_names = {step.action for step in steps}
    used_schemas = tuple(schema for name, schema in schemas.items() if name in used_names)
    return Plan(steps, domain, problem, used_schemas, mode, result.engine)


def parse_plan(text: str) -> tuple[PlanStep, ...]:
    """Read ``[f(a1, x), g(a1)]``; the inverse of :attr:`spca.contracts.Plan.text`.

    Raises:
        PlanTextError: the text is not a bracketed list of calls.
    """
    stripped = text.strip()
    if not (stripped.startswith("[") and stripped.endswith("]")):
        raise PlanTextError(f"a plan is written [action(arg, ...), ...], not {stripped[:80]!r}")
    body = stripped[1:-1].strip()
    steps: list[PlanStep] = []
    position = -1  # of the comma before the next step
    while position < len(body) and body:
        step = _STEP.match(body, position + 1)
        if step is None:
            unread = body[position + 1 :][:80]
            raise PlanTextError(f"cannot read step {len(steps) + 1} of the plan: {unread!r}")
        steps.append(PlanStep(step[1], _split_arguments(step[2])))

        position = step.end()
        if body[position : position + 1] not in ("", ","):
            unread = body[position:][:80]
            raise PlanTextError(f"expected ',' after step {len(steps)} of the plan: {unread!r}")
    return tuple(steps)


def shape_fault(text: str) -> str | None:
    """Return why a text cannot be PDDL: it is too long, nested too deeply, or has unbalanced parentheses.

    Return None if there is no such fault.
    """
    if len(text) > MAX_CHARS:
        return f"it has {len(text)} characters; at most {MAX_CHARS} are read"
    opened: list[_Token] = []
    # A section (such as :action) within another section: there a parenthesis is probably missing. opened[0] is the
    # whole text, opened[1] the outer section.
    suspect: str | None = None
    tokens = _tokens(text)
    for token, following in zip_longest(tokens, tokens[1:], fillvalue=_Token("", len(text))):
        if token.text == "(":
            if not opened and token is not tokens[0]:
                return f"line {_line(text, token)}: the whole text must be one form, but it was closed before this"
            if len(opened) > 1 and suspect is None and _SECTION.fullmatch(following.text):
                inner = _line(text, token)
                outer = _line(text, opened[1])
                suspect = (
                    f"{following.text} on line {inner} begins inside the form of line {outer}, which is not closed"
                )
            opened.append(token)
            if len(opened) > MAX_DEPTH:
                return f"line {_line(text, token)}: parentheses are nested deeper than {MAX_DEPTH}"
        elif token.text == ")":
            if not opened:
                return f"line {_line(text, token)}: ')' has no matching '('"
            opened.pop()
    if not opened:
        return None
    return suspect or f"the '(' on line {_line(text, opened[-1])} is never closed"


def _tokens(text: str) -> list[_Token]:
    """Return the parentheses and words of a text, without comments."""
    return [_Token(m[0], m.start()) for m in _TOKEN.finditer(text) if not m[0].startswith(";")]


def _forms(text: str, tokens: Sequence[_Token], head: str) -> Iterator[tuple[int, int]]:
    """Yield the token range (start, end exclusive) of each outermost form ``(head ...)``.

    Raises:
        PlanTextError: such a form is not closed.
    """
    start = 0
    depth = 0
    inside = False
    for index, token in enumerate(tokens):
        if not inside and token.text == "(" and index + 1 < len(tokens) and tokens[index + 1].text.lower() == head:
            start = index
            depth = 0
            inside = True
        if inside:
            depth += (token.text == "(") - (token.text == ")")
            if depth == 0:
                yield start, index + 1
                inside = False
    if inside:
        raise PlanTextError(f"the ({head} ...) that begins on line {_line(text, tokens[start])} is not closed")


def _line(text: str, token: _Token) -> int:
    """Return the number of the token's line, from 1."""
    return text.count("\n", 0, token.start) + 1


def _register_action(names: dict[str, str], domain: str, form: Sequence[_Token], interface: AgentInterface) -> str:
    """Add the name of an ``(:action ...)`` form to ``names``; return the Python spelling of the name."""
    written = form[2].text if len(form) > _HEAD_TOKENS else ")"
    if written in "()" or written.startswith(":"):  # a parenthesis or keyword instead of a name
        raise PlanTextError(f"the (:action ...) on line {_line(domain, form[0])} has no name")
    name = python_name(written)
    _check_action_name(name, interface)
    if names.get(name, "").lower() == written.lower():
        raise PlanTextError(f"action '{written}' is defined twice; give each action its own name")
    _register(names, written, "actions")
    return name


def _parameters(action: str, form: Sequence[_Token]) -> tuple[str, ...]:
    """Return the Python names of an action's ``:parameters``.

    A name that is a keyword of Python or ``self`` gets a trailing underscore.
    """
    names: list[str] = []
    depth = 0
    inside = False
    for previous, token in pairwise(form):
        if token.text == "(" and previous.text.lower() == ":parameters":
            inside = True
        if not inside:
            continue
        depth += (token.text == "(") - (token.text == ")")
        if depth == 0:
            break
        if token.text.startswith("?"):
            name = python_name(token.text[1:])
            names.append(f"{name}_" if keyword.iskeyword(name) or name == "self" else name)
    unusable = next((name for name in names if not name.isidentifier()), None)
    if unusable is not None:
        raise PlanTextError(
            f"action '{action}': '?{unusable}' is not a letter followed by letters, digits, '_' and '-'"
        )
    repeated = next((name for name, count in Counter(names).items() if count > 1), None)
    if repeated is not None:
        raise PlanTextError(f"action '{action}' has two parameters that become '{repeated}' in Python; rename one")
    return tuple(names)


def _iterate_declared(text: str, tokens: Sequence[_Token], head: str) -> Iterator[str]:
    """Yield the names, without the types, in a typed list ``(head a b - type c - (either t u))``."""
    for start, end in _forms(text, tokens, head):
        depth = 0
        previous = ""
        for token in tokens[start + 2 : end - 1]:  # without "(", the head and ")"
            depth += (token.text == "(") - (token.text == ")")
            is_type = depth != 0 or previous == "-"
            if token.text not in "()-" and not is_type:
                yield token.text
            previous = token.text


def _register(names: dict[str, str], written: str, kind: str) -> None:
    """Add a name to ``names``, which maps Python spellings to PDDL spellings.

    Raise PlanTextError if another name has the same Python spelling.
    """
    python = python_name(written)
    first = names.setdefault(python, written)
    if first.lower() != written.lower():
        raise PlanTextError(f"{kind} '{first}' and '{written}' both become '{python}' in Python; rename one of them")


def _check_action_name(name: str, interface: AgentInterface) -> None:
    """Raise PlanTextError if a method of the agent cannot have this name."""
    if name in interface.primitives:
        reason = "is the name of one of the agent's primitive methods"
    elif name in interface.state_names:
        reason = "is the name of a state attribute of the agent"
    elif keyword.iskeyword(name):
        reason = "is a Python keyword"
    elif name.startswith("_") or not (name.isidentifier() and name.isascii()):
        reason = "is not a name of letters, digits, '_' and '-' that begins with a letter"
    else:
        return
    word = re.sub(r"\W|^_+", "", name, flags=re.ASCII)
    raise PlanTextError(f"action '{name}' {reason}; rename the action in the domain, for example to 'do_{word}'")


def _require_known(names: Container[str], name: str, kind: str) -> str:
    """Return the Python spelling of ``name``; raise PlanTextError if it is not in ``names``."""
    python = python_name(name)
    if python not in names:
        raise PlanTextError(f"the plan uses {kind} '{name}', which the PDDL does not declare")
    return python


def _split_arguments(text: str) -> tuple[str, ...]:
    """Split the arguments of a step in the text of a plan; raise PlanTextError if an argument is empty."""
    if not text.strip():
        return ()
    args = tuple(arg.strip() for arg in text.split(","))
    if not all(args):
        raise PlanTextError(f"an argument is missing in '({text})'")
    return args
