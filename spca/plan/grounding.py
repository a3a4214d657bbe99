"""Conditions of any form for pyperplan, which knows conjunctions of atoms only.

Every action is grounded, and what no action changes is evaluated at once, so that nothing or an atom is left of
``(forall (?x) (imply (static ...) ...))``. Of the rest, disjunctions and conditional effects split an operator into
several, and an atom that must not hold is a fact of its own. What grows too large is left to another engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from unified_planning.engines import Engine, PlanGenerationResult, PlanGenerationResultStatus
from unified_planning.engines.mixins import OneshotPlannerMixin
from unified_planning.model import Action, Fluent, FNode, InstantaneousAction, Problem, ProblemKind
from unified_planning.plans import ActionInstance, SequentialPlan

MOST_INSTANCES: Final = 20_000
"""Ground actions of a problem, at most."""

MOST_CASES: Final = 64
"""Conjunctions that a condition may come to, and operators that a ground action may be split into, at most."""

SMALL: Final = (150, 8)
"""Operators and goals up to which a shortest plan is searched for, which takes some 40 ms at most."""

Atom: TypeAlias = tuple[str, ...]
Cube: TypeAlias = frozenset[tuple[Atom, bool]]
"""A conjunction: atoms that must hold, or must not."""

Cubes: TypeAlias = tuple[Cube, ...]
"""A disjunction of conjunctions; () is never true."""

Binding: TypeAlias = Mapping[str, str]
Condition: TypeAlias = Callable[[Binding], Cubes]

_TRUE: Final[Cubes] = (frozenset(),)
_FALSE: Final[Cubes] = ()
_REACHED: Final = (("goal reached",), True)
"""The fact that a goal holds which has several ways to hold."""

_T = TypeVar("_T")
_Instance: TypeAlias = tuple[Action, tuple[str, ...]]


class TooLargeError(Exception):
    """The problem has too many ground actions or cases for this engine."""


class _Change(NamedTuple):
    """An effect: an atom that holds or not afterwards, in which cases, and in which it does not happen."""

    atom: Atom
    holds: bool
    when: Cubes
    unless: Cubes


class _Case(NamedTuple):
    """What a ground action needs, makes true and makes false."""

    instance: _Instance
    needs: Cube
    made: frozenset[Atom]
    lost: frozenset[Atom]


class GroundingPlanner(Engine, OneshotPlannerMixin):  # type: ignore[misc]  # Unified Planning has no types
    """pyperplan's search on the operators that :class:`_Grounder` makes: shortest plans of small problems."""

    def __init__(self, **_options: Any) -> None:
        Engine.__init__(self)
        OneshotPlannerMixin.__init__(self)

    @property
    def name(self) -> str:
        return "pyperplan-adl"

    @staticmethod
    def supported_kind() -> ProblemKind:
        kind = ProblemKind(version=2)
        kind.set_problem_class("ACTION_BASED")
        for typing in ("FLAT_TYPING", "HIERARCHICAL_TYPING"):
            kind.set_typing(typing)
        for conditions in ("NEGATIVE", "DISJUNCTIVE", "EXISTENTIAL", "UNIVERSAL"):
            kind.set_conditions_kind(f"{conditions}_CONDITIONS")
        kind.set_conditions_kind("EQUALITIES")
        for effects in ("CONDITIONAL_EFFECTS", "FORALL_EFFECTS"):
            kind.set_effects_kind(effects)
        return kind

    @staticmethod
    def supports(problem_kind: ProblemKind) -> bool:
        return bool(problem_kind <= GroundingPlanner.supported_kind())

    def _solve(self, problem: Problem, *_options: Any, **_others: Any) -> PlanGenerationResult:
        grounder = _Grounder(problem)
        goals = grounder.goals()
        if not all(goals):
            status = PlanGenerationResultStatus.SOLVED_SATISFICING
            return PlanGenerationResult(status, SequentialPlan([]), self.name)
        if not goals:
            return PlanGenerationResult(PlanGenerationResultStatus.UNSOLVABLE_PROVEN, None, self.name)
        task, instances = grounder.task(goals)
        is_small = len(instances) <= SMALL[0] and len(task.goals) <= SMALL[1]
        search = {"search": "astar", "heuristic": "hmax"} if is_small else {}
        with problem.environment.factory.OneshotPlanner(name="pyperplan", params=search) as planner:
            planner.skip_checks = True  # the task is made for it
            found = planner.solve(task)
        if found.plan is None:
            return PlanGenerationResult(found.status, None, self.name)

        objects = problem.environment.expression_manager.ObjectExp
        plan: list[ActionInstance] = []
        for step in found.plan.actions:
            if step.action.name in instances:  # else it only ends the task
                action, names = instances[step.action.name]
                arguments = tuple(objects(problem.object(name)) for name in names)
                plan.append(ActionInstance(action, arguments))
        status = PlanGenerationResultStatus.SOLVED_SATISFICING
        return PlanGenerationResult(status, SequentialPlan(plan), self.name)


class _Grounder:
    """The operators of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._changed = frozenset(
            effect.fluent.fluent().name for action in problem.actions for effect in action.effects
        )
        initial = problem.explicit_initial_values
        self._true = frozenset(_atom(fluent)({}) for fluent, value in initial.items() if value.is_true())
        self._known: dict[Any, list[str]] = {}
        self._avoided: set[Atom] = set()
        self._left = MOST_INSTANCES

    def goals(self) -> Cubes:
        """Return what the goal comes to: () if it can never hold, with an empty conjunction if it always does."""
        return _all([self._condition(goal, True) for goal in self._problem.goals])({})

    def task(self, goals: Cubes) -> tuple[Problem, dict[str, _Instance]]:
        """Return the problem without parameters, and what its actions stand for.

        An action that only ends it stands for nothing.

        Raises:
            TooLargeError: it would be too large.
        """
        cases = [case for action in self._problem.actions for case in self._cases(action)]
        for cube in (*goals, *(case.needs for case in cases)):
            self._avoided.update(atom for atom, holds in cube if not holds)
        task = _Task(self._problem.environment)
        for number, case in enumerate(cases):
            task.act(f"a{number}", case.needs, *self._effects(case))
        if len(goals) > 1:
            for number, cube in enumerate(goals):
                task.act(f"goal{number}", cube, frozenset((_REACHED,)), frozenset())
        task.end(goals[0] if len(goals) == 1 else frozenset((_REACHED,)))

        holding = {(atom, True) for atom in self._true}
        holding.update((atom, False) for atom in self._avoided - self._true)
        task.begin(holding)
        instances = {f"a{number}": case.instance for number, case in enumerate(cases)}
        return task.problem, instances

    def _cases(self, action: Action) -> Iterator[_Case]:
        """Yield what instances of an action do, by what holds before."""
        needs = _all([self._condition(condition, True) for condition in action.preconditions])
        effects = [self._effect(effect) for effect in action.effects]
        names = [f"?{parameter.name}" for parameter in action.parameters]
        choices = [self._objects(parameter.type) for parameter in action.parameters]
        for values in product(*choices):
            self._left -= 1
            if self._left < 0:
                raise TooLargeError(f"more than {MOST_INSTANCES} ground actions")
            binding = dict(zip(names, values, strict=True))
            cases = [_Case((action, values), cube, frozenset(), frozenset()) for cube in needs(binding)]
            for effect in effects if cases else ():
                for change in effect(binding):
                    cases = _split(cases, change)
            yield from cases

    def _effects(self, case: _Case) -> tuple[Cube, Cube]:
        """Return the facts that a case makes true, and those that it makes false."""
        lost = case.lost - case.made
        made = {(atom, True) for atom in case.made}
        made.update((atom, False) for atom in lost & self._avoided)
        gone = {(atom, True) for atom in lost}
        gone.update((atom, False) for atom in case.made & self._avoided)
        return frozenset(made), frozenset(gone)

    def _effect(self, effect: Any) -> Callable[[Binding], Iterator[_Change]]:
        atom = _atom(effect.fluent)
        holds = effect.value.is_true()
        when, unless = (self._condition(effect.condition, positive) for positive in (True, False))
        bindings = self._bindings(effect.forall)

        def changes(binding: Binding) -> Iterator[_Change]:
            for bound in bindings(binding):
                yield _Change(atom(bound), holds, when(bound), unless(bound))

        return changes

    def _condition(self, node: FNode, positive: bool) -> Condition:
        """Return what a condition, or its negation, comes to under a binding."""
        if node.is_bool_constant():
            return _constant(node.is_true() == positive)
        if node.is_not():
            return self._condition(node.arg(0), not positive)
        if node.is_implies() or node.is_and() or node.is_or():
            wanted = [positive] * len(node.args)
            wanted[0] ^= node.is_implies()
            parts = [self._condition(arg, each) for arg, each in zip(node.args, wanted, strict=True)]
            return (_all if node.is_and() == positive else _any)(parts)
        if node.is_forall() or node.is_exists():
            inner = self._condition(node.arg(0), positive)
            bindings = self._bindings(node.variables())
            join = _conjunction if node.is_forall() == positive else _disjunction
            return lambda binding: join(map(inner, bindings(binding)))
        return self._literal(node, positive)

    def _literal(self, node: FNode, positive: bool) -> Condition:
        if node.is_equals():
            one, other = map(_term, node.args)
            return lambda binding: _make_constant_cubes(
                (binding.get(one, one) == binding.get(other, other)) == positive
            )
        atom = _atom(node)
        if node.fluent().name in self._changed:
            return lambda binding: (frozenset(((atom(binding), positive),)),)
        return lambda binding: _make_constant_cubes((atom(binding) in self._true) == positive)

    def _objects(self, kind: Any) -> list[str]:
        if kind not in self._known:
            self._known[kind] = [each.name for each in self._problem.objects(kind)]
        return self._known[kind]

    def _bindings(self, variables: Sequence[Any]) -> Callable[[Binding], Iterable[Binding]]:
        """Return a function that gives all ways to extend a binding by some variables."""
        names = [f"?{variable.name}" for variable in variables]
        choices = [self._objects(variable.type) for variable in variables]
        values = list(product(*choices))
        if not names:
            return lambda binding: (binding,)
        return lambda binding: ({**binding, **dict(zip(names, chosen, strict=True))} for chosen in values)


class _Task:
    """A problem whose facts are literals and have no arguments; a fact is known once something needs or changes it."""

    def __init__(self, environment: Any) -> None:
        self.problem = Problem("grounded", environment, initial_defaults={environment.type_manager.BoolType(): False})
        self._facts: dict[tuple[Atom, bool], Fluent] = {}

    def act(self, name: str, needs: Cube, made: Cube, gone: Cube) -> None:
        action = InstantaneousAction(name)
        for fact in sorted(needs):
            action.add_precondition(self._fact(fact))
        for fact in sorted(made):
            action.add_effect(self._fact(fact), True)
        for fact in sorted(gone):
            action.add_effect(self._fact(fact), False)
        self.problem.add_action(action)

    def end(self, goal: Cube) -> None:
        for fact in sorted(goal):
            self.problem.add_goal(self._fact(fact))

    def begin(self, holding: set[tuple[Atom, bool]]) -> None:
        for fact in sorted(holding & self._facts.keys()):
            self.problem.set_initial_value(self._facts[fact], True)

    def _fact(self, fact: tuple[Atom, bool]) -> Fluent:
        if fact not in self._facts:
            self._facts[fact] = self.problem.add_fluent(Fluent(f"f{len(self._facts)}"))
        return self._facts[fact]


def _split(cases: Iterable[_Case], change: _Change) -> list[_Case]:
    """Return each case as it is where the change happens, and as it is where it does not."""
    changed = frozenset((change.atom,))
    nothing = frozenset[Atom]()
    made = changed if change.holds else nothing
    lost = nothing if change.holds else changed

    found: list[_Case] = []
    for case in cases:
        for cube in change.when:
            needs = _both(case.needs, cube)
            if needs is not None:
                found.append(_Case(case.instance, needs, case.made | made, case.lost | lost))
        for cube in change.unless:
            needs = _both(case.needs, cube)
            if needs is not None:
                found.append(case._replace(needs=needs))
    return _limit_cases(found)


def _both(one: Cube, other: Cube) -> Cube | None:
    """Return the conjunction of two, None where they contradict each other."""
    if any((atom, not holds) in one for atom, holds in other):
        return None
    return one | other


def _conjunction(parts: Iterable[Cubes]) -> Cubes:
    found = _TRUE
    for part in parts:
        if part is _TRUE:
            continue
        merged = (_both(one, other) for one in found for other in part)
        cubes = dict.fromkeys(cube for cube in merged if cube is not None)
        found = tuple(_limit_cases(list(cubes)))
        if not found:
            break
    return found


def _disjunction(parts: Iterable[Cubes]) -> Cubes:
    found: dict[Cube, None] = {}
    for part in parts:
        if part is _TRUE:
            return _TRUE
        found |= dict.fromkeys(part)
    return tuple(_limit_cases(list(found)))


def _limit_cases(cases: list[_T]) -> list[_T]:
    if len(cases) > MOST_CASES:
        raise TooLargeError(f"a condition of more than {MOST_CASES} cases")
    return cases


def _all(parts: Sequence[Condition]) -> Condition:
    return lambda binding: _conjunction(part(binding) for part in parts)


def _any(parts: Sequence[Condition]) -> Condition:
    return lambda binding: _disjunction(part(binding) for part in parts)


def _make_constant_cubes(holds: bool) -> Cubes:
    return _TRUE if holds else _FALSE


def _constant(holds: bool) -> Condition:
    return lambda _binding: _make_constant_cubes(holds)


def _atom(node: FNode) -> Callable[[Binding], Atom]:
    """Return a function that gives the atom of a predicate under a binding."""
    name = node.fluent().name
    terms = tuple(map(_term, node.args))
    return lambda binding: (name, *[binding.get(term, term) for term in terms])


def _term(node: FNode) -> str:
    """Return an object's name, or that of a parameter or variable as PDDL writes it.

    An inner variable hides an outer one.
    """
    if node.is_object_exp():
        return str(node.object().name)
    return f"?{node.parameter().name if node.is_parameter_exp() else node.variable().name}"
