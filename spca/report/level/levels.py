"""Everything about a level: its rounds with their calls, plans, code and attempts, in the order they came.

The log of events has the order, transcripts have what was said, the trajectory has what was executed. A level that is
not finished has no trajectory yet, and of a damaged run anything may be missing: the rest is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from spca.common.text import strip_folders, visible
from spca.common.web.films import GridFilm
from spca.contracts import CoderMode
from spca.report.level.calls_shown import CODER, PLANNER, CallReader, ShownCall
from spca.report.level.origins import UNKNOWN, Origins, read_origins
from spca.report.level.texts import Shelf
from spca.report.read import model
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, number, table, text, whole
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import ending
from spca.report.read.writers import OfferedWriter, TriedWriter, offer, tried
from spca.report.replay.resimulation import Resimulated
from spca.runs.recording.writer_files import FOLDER as WRITERS
from spca.writers.stored import Miss

Simulate = Callable[[Mapping[str, Any]], Resimulated]
"""Re-simulates the content of a trajectory file."""

_Put: TypeAlias = tuple[str, str, tuple[model.Method, ...]]
"""A text, its language and its methods, as :meth:`Shelf.put` takes them."""

_PLANNED: Final = f"{PLANNER}_call"
_CODED: Final = f"{CODER}_call"
_PART_OF_ROUND: Final = (_PLANNED, _CODED, "compiled_plan", "simulation_runs")
_NOT_SIMULATED: Final = model.Check("", "not re-simulated")


def level(
    files: RunFiles, number: int, shelf: Shelf, simulate: Simulate | None, origins: Origins | None = None
) -> model.Level:
    """A level of a run, finished or not; ``texts`` of the result are all that it uses.

    Args:
        number: of the level, from 1 in the order of the run.
        shelf: the run's; gets the texts.
        simulate: makes episodes for the player; None leaves them out.
        origins: of the methods of the run; None reads them.
    """
    origins = read_origins(files) if origins is None else origins
    with shelf.collecting() as used:
        found = _Reader(files, number, shelf, simulate, origins).level()
    return replace(found, texts={name: shelf.text(name) for name in sorted(used)})


@dataclass(slots=True)
class _Turn:
    """A turn of CODE and ACT as far as the log tells; ``attempt`` is the index of its record in the trajectory."""

    calls: list[ShownCall] = field(default_factory=list)
    acted: bool = False
    attempt: int | None = None

    def is_followed_by(self, call: ShownCall) -> bool:
        """Whether a call of the coder belongs to the next turn.

        Within a turn, what follows an answer that could not be used is a repair; anything else begins anew.
        """
        last = self.calls[-1] if self.calls else None
        gave_up = last is not None and not last.call.ok and last.answered and call.call.mode != CoderMode.SYNTAX
        return self.acted or gave_up


@dataclass(slots=True)
class _Round:
    """A round, or in round 0 one plan of a stored writer: ``writers`` are those that were tried on the way to it."""

    number: int
    planner: list[ShownCall] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)
    writers: list[TriedWriter] = field(default_factory=list)

    def is_over(self) -> bool:
        """Whether what comes next in round 0 is about another plan."""
        return bool(self.writers) and self.writers[-1].miss in ("", Miss.FAILED)


class _Reader:
    """Puts one level together."""

    def __init__(
        self, files: RunFiles, number_: int, shelf: Shelf, simulate: Simulate | None, origins: Origins
    ) -> None:
        self._files, self._number, self._shelf = files, number_, shelf
        self._origins = origins.get(number_, UNKNOWN)
        self._calls = CallReader(files, shelf)
        self._history = files.histories.get(number_)
        logged = self._history.last("level_summary") if self._history else {}
        self._summary = files.summaries().get(number_) or logged
        trajectory = files.trajectory(self._summary) or {}
        self._attempts: Sequence[Mapping[str, Any]] = [table(each) for each in items(trajectory.get("attempts"))]
        self._replayed = simulate(trajectory) if simulate and trajectory else None
        library = self._origins.before
        source = (files.source(library.file) if library.file else None) or ""
        self._newest: dict[str, _Put] = {"agent": (source, "python", library.methods)}

    def level(self) -> model.Level:
        skeleton = self._skeleton()
        _attach(skeleton, self._attempts)
        rounds = tuple(map(self._round, skeleton))
        begun = self._history.begun if self._history else 0
        outcome, reason = ending(self._summary, begun, under_way=self._files.level_under_way() == self._number)
        shown = (turn.attempt for this in reversed(rounds) for turn in reversed(this.tries) if turn.attempt)
        last = next(shown, None)
        missions = (call.mission for this in skeleton for call in this.planner if call.mission)
        return model.Level(
            number=self._number,
            mission=visible(self._replayed.mission if self._replayed else "") or next(missions, ""),
            outcome=outcome,
            reason=strip_folders(visible(reason)),
            blame=last.blame if last and outcome != "success" else None,
            rounds=rounds,
            texts={},
            offer=self._offer(),
            headline=strip_folders(self._origins.headline),
        )

    def _offer(self) -> OfferedWriter | None:
        found = offer(self._summary)
        if found is None or not found.label:
            return found
        source, domain = (self._files.source(f"{WRITERS}/{found.label}.{end}") for end in ("py", "pddl"))
        return replace(
            found,
            source=self._shelf.put(source, "python") if source else "",
            domain=self._shelf.put(domain, "pddl") if domain else "",
        )

    def _skeleton(self) -> list[_Round]:
        """Rounds, calls and attempts in the order of the log."""
        rounds = list[_Round]()
        for work, event in self._history.works if self._history else ():
            last = rounds[-1] if rounds else None
            if work == "writers_tried" or (work in _PART_OF_ROUND and last and last.is_over()):
                rounds.append(_Round(0))
            elif work == "spca_rounds" or not (last or work == "level_summary"):
                rounds.append(_Round(1 + (last.number if last else 0)))
            if work == "compiled_plan":
                rounds[-1].writers.append(tried(event))
            elif work == _PLANNED:
                rounds[-1].planner.append(self._calls.shown(event))
            elif work == _CODED:
                call = self._calls.shown(event)
                turns = rounds[-1].turns
                if not turns or turns[-1].is_followed_by(call):
                    turns.append(_Turn())
                turns[-1].calls.append(call)
            elif work == "simulation_runs":
                turns = rounds[-1].turns
                if not turns or turns[-1].acted:
                    turns.append(_Turn())
                turns[-1].acted = True
        return rounds

    def _round(self, this: _Round) -> model.Round:
        tried = [self._attempts[turn.attempt] for turn in this.turns if turn.attempt is not None]
        plan, engine, domain, problem = _plan(this, tried[0] if tried else {})
        return model.Round(
            number=this.number,
            calls=tuple(shown.call for shown in this.planner),
            plan=plan,
            engine=visible(engine),
            domain=self._shelf.put(domain, "pddl") if domain else "",
            problem=self._shelf.put(problem, "pddl") if problem else "",
            domain_diff=self._follow("domain", (domain, "pddl", ())),
            problem_diff=self._follow("problem", (problem, "pddl", ())),
            tries=tuple(map(self._try, this.turns)),
            writers=tuple(this.writers),
        )

    def _follow(self, kind: str, text: _Put) -> model.Diff | None:
        """Return how a text differs from the one before of its kind, None where it does not or there is none."""
        before = self._newest.get(kind)
        if not text[0]:
            return None
        self._newest[kind] = text
        if not before or not before[0] or before[0] == text[0]:
            return None
        return model.Diff(self._shelf.put(*before), self._shelf.put(*text))

    def _try(self, turn: _Turn) -> model.Try:
        calls = tuple(shown.call for shown in turn.calls)
        if turn.attempt is None:
            return model.Try(calls, None, None)
        record = self._attempts[turn.attempt]
        source = self._files.source(text(record.get("agent"))) if record.get("agent") else None
        known = self._origins.attempts[turn.attempt : turn.attempt + 1]  # none where the files changed meanwhile
        methods = known[0].methods if known else ()
        changed = self._follow("agent", (source or "", "python", methods))
        return model.Try(calls, changed, self._attempt(record, source, methods, *self._episode(turn.attempt)))

    def _episode(self, index: int) -> tuple[GridFilm | None, model.Check]:
        replayed = self._replayed.attempts if self._replayed else ()
        return replayed[index] if index < len(replayed) else (None, _NOT_SIMULATED)

    def _attempt(
        self,
        record: Mapping[str, Any],
        source: str | None,
        methods: tuple[model.Method, ...],
        episode: GridFilm | None,
        check: model.Check,
    ) -> model.Attempt:
        agent = "" if source is None else self._shelf.put(source, "python", methods)
        blamed = None if source is None else blame(record, source, agent)
        if blamed:
            written = (each for each in methods if each.first <= blamed.line <= each.last)
            blamed = replace(blamed, written=next(written, None))
        return model.Attempt(
            round=count(record.get("round")),
            number=count(record.get("attempt")),
            status=visible(text(record.get("status"))),
            message=visible(text(record.get("message"))),
            traceback=visible(text(record.get("traceback"))),
            printed=visible(text(record.get("printed"))),
            reward=number(record.get("reward")) or 0.0,
            agent=agent,
            before=len(items(record.get("start"))),
            steps=_steps(record),
            blame=blamed,
            episode=episode,
            check=check,
            file=visible(text(record.get("agent"))),
        )


def _attach(rounds: list[_Round], attempts: Sequence[Mapping[str, Any]]) -> None:
    """Give each turn that acted the next attempt of its round; those that the log does not have are added."""
    of_round: dict[int, list[int]] = {}
    for index, attempt in enumerate(attempts):
        this = whole(attempt.get("round"))
        of_round.setdefault(1 if this is None else this, []).append(index)
    for number_, indices in of_round.items():
        these = [this for this in rounds if this.number == number_]
        acted = sum(turn.acted for this in these for turn in this.turns)
        for _ in indices[acted:]:
            if not these or not number_:
                these.append(_Round(number_))
                rounds.append(these[-1])
            these[-1].turns.append(_Turn(acted=True))
        waiting = (turn for this in these for turn in this.turns if turn.acted)
        for turn, index in zip(waiting, indices, strict=False):
            turn.attempt = index
    rounds.sort(key=lambda this: this.number)


def _plan(this: _Round, record: Mapping[str, Any]) -> tuple[tuple[model.Action, ...], str, str, str]:
    """Steps, engine, domain and problem of a round's plan: as executed, else as far as its calls tell."""
    if record:
        steps = tuple(_action(table(step)) for step in items(record.get("plan")))
        return steps, text(record.get("engine")), text(record.get("domain")), text(record.get("problem"))
    last = this.planner[-1] if this.planner else None
    if last is None or not last.call.ok:
        return (), "", "", ""
    asked = (call.plan for turn in this.turns for call in turn.calls if call.plan)
    return next(asked, ()), "", *(last.pddl or ("", ""))


def _action(step: Mapping[str, Any]) -> model.Action:
    return model.Action(visible(text(step.get("action"))), tuple(visible(text(arg)) for arg in items(step.get("args"))))


def _steps(record: Mapping[str, Any]) -> tuple[tuple[int, int, int], ...]:
    """Primitive, plan position and line of each step, up to the first that cannot be read."""
    steps = list[tuple[int, int, int]]()
    for step in items(record.get("steps")):
        match [whole(value) for value in items(step)]:
            case [int(code), int(position), int(line)]:
                steps.append((code, position, line))
            case _:
                break
    return tuple(steps)
