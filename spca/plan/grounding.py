"""Grounding of problems with arbitrary conditions for pyperplan, which supports only conjunctions of atoms.

Every action is grounded. Static atoms (atoms that no action changes) are evaluated during grounding, so that for
example ``(forall (?x) (imply (static ...) ...))`` becomes short. The remaining conditions are put into disjunctive
normal form. Disjunctions and conditional effects split an operator into several operators. The negation of an atom
becomes a separate fact. A problem that grows too large is refused, so that another engine can try it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from unified_planning.engines import Engine, PlanGenerationResult, PlanGenerationResultStatus
from unified_planning.engines.mixins import OneshotPlannerMixin
from unified_planning.model import Action, Fluent, FNode, InstantaneousAction, Problem, ProblemKind
from unified_planning.plans import ActionInstance, SequentialPlan

MAX_INSTANCES: Final = 20_000
"""Largest number of ground actions of a problem."""

MAX_CASES: Final = 64
"""Largest number of conjunctions of one condition, and of operators into which one ground action is split."""

SMALL: Final = (150, 8)
"""Largest numbers of operators and of goals for which a shortest plan is searched.

Below these limits the search takes at most about 40 ms.
"""

Atom: TypeAlias = tuple[str, ...]
"""A predicate's name and its arguments."""

Cube: TypeAlias = frozenset[tuple[Atom, bool]]
"""A conjunction of literals; each literal is an atom, and True if the atom must hold or False if it must not hold."""

Cubes: TypeAlias = tuple[Cube, ...]
"""A disjunction of conjunctions; the empty disjunction () is never true."""

Binding: TypeAlias = Mapping[str, str]
"""Maps each parameter and variable (written with "?") to the name of its object."""

Condition: TypeAlias = Callable[[Binding], Cubes]

"""A function that returns the disjunctive normal form of a condition under a binding."""

_TRUE: Final[Cubes] = (frozenset(),)
_FALSE: Final[Cubes] = ()
_GOAL_REACHED: Final = (("goal reached",), True)
"""The goal fact of a grounded problem whose original goal is a disjunction.

For each conjunction of the original goal, an additional operator makes this fact true.
"""

_T = TypeVar("_T")
_Instance: TypeAlias = tuple[Action, tuple[str, ...]]
"""An action with the names of its arguments."""


class TooLargeError(Exception):
    """The problem has too many ground actions or cases for this engine."""


class _Change(NamedTuple):
    """A ground effect, which makes ``atom`` true or false (``holds``).

    ``when`` is the condition under which the effect happens, ``unless`` the negation of this condition.
    """

    atom: Atom
    holds: bool
    when: Cubes
    unless: Cubes


class _Case(NamedTuple):
    """One of the cases into which a ground action is split.

    Attributes:
        instance: the ground action.
        needs: the literals that must hold.
        made: the atoms that become true.
        lost: the atoms that become false.
    """

    instance: _Instance
    needs: Cube
    made: frozenset[Atom]
    lost: frozenset[Atom]


class GroundingPlanner(Engine, OneshotPlannerMixin):  # type: ignore[misc]  # Unified Planning has no types
    """Engine that grounds a problem (:class:`_Grounder`) and solves the grounded problem with pyperplan.

    For small problems, it finds a shortest plan.
    """

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
        """Ground the problem, solve the grounded problem with pyperplan, and return the plan's original actions."""
        grounder = _Grounder(problem)
        goals = grounder.goals()
        if not all(goals):  # an empty conjunction: the goal always holds
            status = PlanGenerationResultStatus.SOLVED_SATISFICING
            return PlanGenerationResult(status, SequentialPlan([]), self.name)
        if not goals:
            return PlanGenerationResult(PlanGenerationResultStatus.UNSOLVABLE_PROVEN, None, self.name)
        task, instances = grounder.task(goals)
        max_operators, max_goals = SMALL
        is_small = len(instances) <= max_operators and len(task.goals) <= max_goals
        search = {"search": "astar", "heuristic": "hmax"} if is_small else {}
        with problem.environment.factory.OneshotPlanner(name="pyperplan", params=search) as planner:
            planner.skip_checks = True  # the grounded task has only what pyperplan supports
            found = planner.solve(task)
        if found.plan is None:
            return PlanGenerationResult(found.status, None, self.name)

        objects = problem.environment.expression_manager.ObjectExp
        plan: list[ActionInstance] = []
        for step in found.plan.actions:
            if step.action.name in instances:  # other actions only reach the goal of a disjunction
                action, names = instances[step.action.name]
                arguments = tuple(objects(problem.object(name)) for name in names)
                plan.append(ActionInstance(action, arguments))
        status = PlanGenerationResultStatus.SOLVED_SATISFICING
        return PlanGenerationResult(status, SequentialPlan(plan), self.name)


class _Grounder:
    """Grounds the actions and the goal of a problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._changed = frozenset(
            effect.fluent.fluent().name for action in problem.actions for effect in action.effects
        )
        initial = problem.explicit_initial_values
        self._true = frozenset(_atom(fluent)({}) for fluent, value in initial.items() if value.is_true())
        self._names_by_type: dict[Any, list[str]] = {}
        # Atoms that some condition or goal needs to be false; `task` collects them.
        self._negated: set[Atom] = set()
        self._instances_left = MAX_INSTANCES

    def goals(self) -> Cubes:
        """Return the goal in disjunctive normal form.

        If the goal can never hold, the disjunction is (). If it always holds, the disjunction contains the empty
        conjunction.
        """
        return _all([self._condition(goal, True) for goal in self._problem.goals])({})

    def task(self, goals: Cubes) -> tuple[Problem, dict[str, _Instance]]:
        """Return the grounded problem, and the origin of each grounded action by its name.

        The origin is the original action with the names of its arguments. If the goal is a disjunction, the grounded
        problem has additional actions without origin, whose only effect is that the goal is reached.

        Raises:
            TooLargeError: the grounded problem would be too large.
        """
        cases = [case for action in self._problem.actions for case in self._cases(action)]
        for cube in (*goals, *(case.needs for case in cases)):
            self._negated.update(atom for atom, holds in cube if not holds)
        task = _Task(self._problem.environment)
        for number, case in enumerate(cases):
            task.add_action(f"a{number}", case.needs, *self._effects(case))
        if len(goals) > 1:
            for number, cube in enumerate(goals):
                task.add_action(f"goal{number}", cube, frozenset((_GOAL_REACHED,)), frozenset())
        task.add_goals(goals[0] if len(goals) == 1 else frozenset((_GOAL_REACHED,)))

        holding = {(atom, True) for atom in self._true}
        holding.update((atom, False) for atom in self._negated - self._true)
        task.set_initial(holding)
        instances = {f"a{number}": case.instance for number, case in enumerate(cases)}
        return task.problem, instances

    def _cases(self, action: Action) -> Iterator[_Case]:
        """Yield the cases of all ground instances of an action.

        Raises:
            TooLargeError: the problem has too many ground actions, or one ground action has too many cases.
        """
        needs = _all([self._condition(condition, True) for condition in action.preconditions])
        effects = [self._effect(effect) for effect in action.effects]
        names = [f"?{parameter.name}" for parameter in action.parameters]
        choices = [self._objects(parameter.type) for parameter in action.parameters]
        for values in product(*choices):
            self._instances_left -= 1
            if self._instances_left < 0:
                raise TooLargeError(f"more than {MAX_INSTANCES} ground actions")
            binding = dict(zip(names, values, strict=True))
            cases = [_Case((action, values), cube, frozenset(), frozenset()) for cube in needs(binding)]
            if not cases:  # the precondition can never hold
                continue
            for effect in effects:
                for change in effect(binding):
                    cases = _split(cases, change)
            yield from cases

    def _effects(self, case: _Case) -> tuple[Cube, Cube]:
        """Return the facts that a case makes true, and the facts that the case makes false."""
        lost = case.lost - case.made  # in PDDL, an action that deletes and adds the same atom adds the atom
        made = {(atom, True) for atom in case.made}
        made.update((atom, False) for atom in lost & self._negated)
        deleted = {(atom, True) for atom in lost}
        deleted.update((atom, False) for atom in case.made & self._negated)
        return frozenset(made), frozenset(deleted)

    def _effect(self, effect: Any) -> Callable[[Binding], Iterator[_Change]]:
        """Return a function that yields the changes of an effect under a binding."""
        atom = _atom(effect.fluent)
        holds = effect.value.is_true()
        when, unless = (self._condition(effect.condition, positive) for positive in (True, False))
        bindings = self._bindings(effect.forall)

        def changes(binding: Binding) -> Iterator[_Change]:
            for bound in bindings(binding):
                yield _Change(atom(bound), holds, when(bound), unless(bound))

        return changes

    def _condition(self, node: FNode, positive: bool) -> Condition:
        """Return the compiled form of a condition; if not ``positive``, of the condition's negation."""
        if node.is_bool_constant():
            return _constant(node.is_true() == positive)
        if node.is_not():
            return self._condition(node.arg(0), not positive)
        if node.is_implies() or node.is_and() or node.is_or():
            signs = [positive] * len(node.args)
            signs[0] ^= node.is_implies()  # a -> b is (not a) or b
            parts = [self._condition(arg, sign) for arg, sign in zip(node.args, signs, strict=True)]
            is_conjunction = node.is_and() == positive  # by De Morgan, a negated disjunction is a conjunction
            return _all(parts) if is_conjunction else _any(parts)
        if node.is_forall() or node.is_exists():
            inner = self._condition(node.arg(0), positive)
            bindings = self._bindings(node.variables())
            join = _conjunction if node.is_forall() == positive else _disjunction
            return lambda binding: join(map(inner, bindings(binding)))
        return self._literal(node, positive)

    def _literal(self, node: FNode, positive: bool) -> Condition:
        """Return the compiled form of an equality or an atom; a static atom is evaluated for each binding."""
        if node.is_equals():
            left, right = map(_term, node.args)
            return lambda binding: _make_constant_cubes(
                (binding.get(left, left) == binding.get(right, right)) == positive
            )
        atom = _atom(node)
        if node.fluent().name in self._changed:
            return lambda binding: (frozenset(((atom(binding), positive),)),)
        return lambda binding: _make_constant_cubes((atom(binding) in self._true) == positive)

    def _objects(self, kind: Any) -> list[str]:
        """Return the names of all objects of a type."""
        if kind not in self._names_by_type:
            self._names_by_type[kind] = [each.name for each in self._problem.objects(kind)]
        return self._names_by_type[kind]

    def _bindings(self, variables: Sequence[Any]) -> Callable[[Binding], Iterable[Binding]]:
        """Return a function that yields the binding extended by every choice of objects for the variables."""
        names = [f"?{variable.name}" for variable in variables]
        choices = [self._objects(variable.type) for variable in variables]
        values = list(product(*choices))
        if not names:
            return lambda binding: (binding,)
        return lambda binding: ({**binding, **dict(zip(names, chosen, strict=True))} for chosen in values)


class _Task:
    """A problem under construction; each literal that an action or goal mentions becomes a fluent without arguments."""

    def __init__(self, environment: Any) -> None:
        self.problem = Problem("grounded", environment, initial_defaults={environment.type_manager.BoolType(): False})
        self._facts: dict[tuple[Atom, bool], Fluent] = {}

    def add_action(self, name: str, needs: Cube, made: Cube, deleted: Cube) -> None:
        action = InstantaneousAction(name)
        for fact in sorted(needs):
            action.add_precondition(self._fact(fact))
        for fact in sorted(made):
            action.add_effect(self._fact(fact), True)
        for fact in sorted(deleted):
            action.add_effect(self._fact(fact), False)
        self.problem.add_action(action)

    def add_goals(self, goal: Cube) -> None:
        for fact in sorted(goal):
            self.problem.add_goal(self._fact(fact))

    def set_initial(self, holding: set[tuple[Atom, bool]]) -> None:
        """Set the facts that hold at the start, except facts that no action or goal mentions.

        Call this method after all actions and goals are added.
        """
        for fact in sorted(holding & self._facts.keys()):
            self.problem.set_initial_value(self._facts[fact], True)

    def _fact(self, fact: tuple[Atom, bool]) -> Fluent:
        if fact not in self._facts:
            self._facts[fact] = self.problem.add_fluent(Fluent(f"f{len(self._facts)}"))
        return self._facts[fact]


def _split(cases: Iterable[_Case], change: _Change) -> list[_Case]:
    """Return the cases that result if each case is split by whether ``change`` happens."""
    changed = frozenset((change.atom,))
    nothing = frozenset[Atom]()
    made = changed if change.holds else nothing
    lost = nothing if change.holds else changed

    result: list[_Case] = []
    for case in cases:
        for cube in change.when:
            needs = _conjoin(case.needs, cube)
            if needs is not None:
                result.append(_Case(case.instance, needs, case.made | made, case.lost | lost))
        for cube in change.unless:
            needs = _conjoin(case.needs, cube)
            if needs is not None:
                result.append(case._replace(needs=needs))
    return _limit_cases(result)


def _conjoin(left: Cube, right: Cube) -> Cube | None:
    """Return the conjunction of two conjunctions; None if they contradict each other."""
    if any((atom, not holds) in left for atom, holds in right):
        return None
    return left | right


def _conjunction(parts: Iterable[Cubes]) -> Cubes:
    """Return the conjunction of disjunctions, multiplied out and without duplicates, in a deterministic order."""
    result = _TRUE
    for part in parts:
        if part is _TRUE:
            continue
        merged = (_conjoin(left, right) for left in result for right in part)
        cubes = dict.fromkeys(cube for cube in merged if cube is not None)
        result = tuple(_limit_cases(list(cubes)))
        if not result:
            break
    return result


def _disjunction(parts: Iterable[Cubes]) -> Cubes:
    """Return the disjunction of disjunctions, without duplicates, in a deterministic order."""
    cubes: dict[Cube, None] = {}
    for part in parts:
        if part is _TRUE:
            return _TRUE
        cubes |= dict.fromkeys(part)
    return tuple(_limit_cases(list(cubes)))


def _limit_cases(cases: list[_T]) -> list[_T]:
    """Return ``cases``; raise TooLargeError if there are too many."""
    if len(cases) > MAX_CASES:
        raise TooLargeError(f"a condition of more than {MAX_CASES} cases")
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
    """Return a function that returns the atom of a predicate under a binding."""
    name = node.fluent().name
    terms = tuple(map(_term, node.args))
    return lambda binding: (name, *[binding.get(term, term) for term in terms])


def _term(node: FNode) -> str:
    """Return the name of an object, or "?" and the name of a parameter or variable, as in PDDL.

    A binding is keyed by these names, so an inner variable hides an outer variable of the same name.
    """
    if node.is_object_exp():
        return str(node.object().name)
    variable = node.parameter() if node.is_parameter_exp() else node.variable()
    return f"?{variable.name}"
