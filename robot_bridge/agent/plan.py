"""Check that an agent can carry out a plan, before the robot moves (pure).

The agent's actions are read from its source without running the source. In a plan, the name of a thing has the form
kind_colour, which the planner and the agent's actions also use. Around a robot, only things for which there is a sign
can exist.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Final

from robot_bridge.errors import SetupError
from robot_bridge.tags import COLORS, LABELS
from spca.bodies.grid.body import GRID
from spca.code import agent_source
from spca.code.policy import check as policy
from spca.common.command import other_program
from spca.common.names import find_nearest
from spca.contracts import AgentSource, Plan, PlannerMode, PlanStep
from spca.errors import PatchError, PlanTextError
from spca.plan.pddl import parse_plan

_ANY_COLOUR: Final = "any"
"""Colour in the name of a thing that may have any colour."""
_MIN_SIMILARITY: Final = 0.75
"""Least similarity, 0 to 1, between an unknown name and the name that is suggested instead."""


def _collect_colours() -> Mapping[str, Sequence[str]]:
    """Return the colours of each kind of thing that has signs, in order and followed by "any".

    The kind ``object``, which means a key, a ball or a box, has all colours.
    """
    colours: dict[str, list[str]] = {}
    for kind, colour, _ in LABELS:
        of_kind = colours.setdefault(kind, [])
        if colour not in of_kind:
            of_kind.append(colour)
    colours["object"] = list(COLORS)  # a key, a ball or a box
    return {kind: (*of_kind, _ANY_COLOUR) for kind, of_kind in colours.items()}


COLOURS_OF_KINDS: Final = _collect_colours()
"""Kinds in the names of things, each with the colours that a thing of the kind may have."""


def check_plan(text: str, agent: AgentSource, called: str = "the agent") -> Plan:
    """Parse a plan, check that the agent can carry out the plan, and return the parsed plan.

    Args:
        text: such as ``[go_to_object(a1, ball_red), pick_up_object(a1, ball_red)]``.
        agent: source of the agent.
        called: name of the agent in error messages.

    Raises:
        SetupError: the plan cannot be read, or the agent must not be run. The agent lacks an action of the plan, or an
            action takes another number of arguments. An argument names a thing that cannot exist.
    """
    steps = read_steps(text)
    actions = _find_actions(agent, called)
    words = set(re.findall(r"[^\W_]+", agent.text))
    for step in steps:
        if step.action not in actions:
            raise SetupError(_explain_unknown(step, actions, called))
        _check_arguments(step, actions[step.action], words)
    return Plan(steps, "", "", (), PlannerMode.FRESH)


def read_steps(text: str) -> tuple[PlanStep, ...]:
    """Return the steps of a plan.

    Raises:
        SetupError: the text cannot be read, or has no steps.
    """
    try:
        steps = parse_plan(text)
    except PlanTextError as error:
        raise SetupError(f"the plan cannot be read: {error}") from error
    if not steps:
        raise SetupError("the plan is empty: write it [action(arg, ...), ...]")
    return steps


def _find_actions(agent: AgentSource, called: str) -> Mapping[str, ast.FunctionDef]:
    try:
        policy.check_agent(agent, GRID.interface)
        methods = agent_source.methods_of(agent.text)
    except PatchError as error:
        reason = str(error).partition("\n")[0]
        raise SetupError(f"{called} cannot be run: {reason}: choose one that a run wrote") from error
    return {name: node for name, node in methods.items() if _is_action(node)}


def _is_action(method: ast.FunctionDef) -> bool:
    """Return whether a plan can name the method as an action.

    An action is a public generator without decorators whose keyword-only parameters all have defaults.
    """
    is_plain = not method.decorator_list and None not in method.args.kw_defaults
    return is_plain and not method.name.startswith("_") and agent_source.is_generator(method)


def _explain_unknown(step: PlanStep, actions: Mapping[str, ast.FunctionDef], called: str) -> str:
    """Return the error message for an action that the agent lacks, with similar actions and all known actions."""
    has_no = f"{step}: {called} has no action {step.action}"
    if not actions:
        return f"{has_no}, nor any other: let it learn with {other_program('python main.py')} run"

    longer = [name for name in actions if name.startswith(step.action)]
    suggestions = dict.fromkeys([*longer, *find_nearest(step.action, actions)])
    question = ":"
    if suggestions:
        signatures = [_signature(actions[name]) for name in suggestions]
        question = f": did you mean {_join_words(signatures, 'or')}?"
    known = [_signature(action) for action in actions.values()]
    return f"{has_no}{question} it has {_join_words(known, 'and')}"


def _check_arguments(step: PlanStep, action: ast.FunctionDef, words: Collection[str]) -> None:
    """Raise SetupError if a step has the wrong number of arguments or names a thing that cannot exist."""
    count = len(step.args)
    max_count = len(agent_source.positional(action)) - 1  # without self
    min_count = max_count - len(action.args.defaults)
    is_too_many = count > max_count and action.args.vararg is None
    if count < min_count or is_too_many:
        takes = f"{min_count}" if min_count == max_count else f"{min_count} to {max_count}"
        noun = "argument" if takes == "1" else "arguments"
        signature = _signature(action)
        raise SetupError(f"{step}: {signature} takes {takes} {noun}, not {count}")

    for name in step.args:
        problem = _find_problem(name, words)
        if problem:
            raise SetupError(f"{step}: there can be no {name}: {problem}")


def _find_problem(name: str, words: Collection[str]) -> str:
    """Return why there can be no thing called ``name``, or "" if there can be one.

    Only two forms are refused: a known kind with an unknown colour, and an unknown kind with a known colour. ``words``
    are the words in the agent's source. An unknown kind or colour is accepted if it is one of these words, because the
    agent may use the argument for something else.
    """
    kind, _, rest = name.partition("_")
    colour = rest.partition("_")[0]
    colours = COLOURS_OF_KINDS.get(kind)
    if colours is None:
        is_thing = colour in (*COLORS, _ANY_COLOUR) and kind not in words
        if not is_thing:
            return ""
        kinds = _join_words(COLOURS_OF_KINDS, "and")
        return f"{_suggest_name(name)}kinds are {kinds}"

    is_without_colour = not colour or colour.isdigit()
    is_agents_word = colour in words and colour not in COLORS
    if is_without_colour or colour in colours or is_agents_word:
        return ""
    return f"{_suggest_name(name)}{kind}s are {_join_words(colours, 'or')}"


def _suggest_name(name: str) -> str:
    """Return the question "did you mean ...?" with the most similar name of a thing, or "" if no name is similar."""
    names: list[str] = []
    for kind, colours in COLOURS_OF_KINDS.items():
        names += [f"{kind}_{colour}" for colour in colours]
    matches = get_close_matches(name, names, n=1, cutoff=_MIN_SIMILARITY)
    return f"did you mean {matches[0]}? " if matches else ""


def _signature(action: ast.FunctionDef) -> str:
    """Return an action's name and parameters without ``self``, as in a plan."""
    parameters = ast.unparse(action.args).partition(", ")[2]
    return f"{action.name}({parameters})"


def _join_words(words: Iterable[str], last: str) -> str:
    """Join words with commas, and the last two with the conjunction ``last``."""
    *earlier, final = words
    return f"{', '.join(earlier)} {last} {final}" if earlier else final
