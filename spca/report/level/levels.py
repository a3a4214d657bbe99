"""Everything about a level: its rounds with their calls, plans, code and attempts, in the order they came.

The log of events has the order, transcripts have what was said, the trajectory has what was executed. A level that is
not finished has no trajectory yet, and of a damaged run anything may be missing: the rest is shown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import takewhile
from typing import Any, Final

from spca.common.text import strip_folders
from spca.contracts import CoderMode
from spca.report.level.calls_shown import CODER, PLANNER, ShownCall, read_call
from spca.report.level.origins import UNKNOWN, Origins, read_origins
from spca.report.level.texts import Shelf
from spca.report.read import model
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, number, steps, table, text, texts, whole
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import NO_HISTORY, ending
from spca.report.read.writers import OfferedWriter, TriedWriter, offer, read_tried
from spca.report.replay.resimulation import Resimulated
from spca.runs.recording.writer_files import FOLDER as WRITERS
from spca.writers.stored import Miss

Simulate = Callable[[Mapping[str, Any]], Resimulated]
"""Re-simulates the content of a trajectory file."""

_PLANNED: Final = f"{PLANNER}_call"
_CODED: Final = f"{CODER}_call"
_PART_OF_ROUND: Final = (_PLANNED, _CODED, "compiled_plan", "simulation_runs")
_NOT_SIMULATED: Final = model.Check("", "not re-simulated")


def level(files: RunFiles, number: int, simulate: Simulate | None, origins: Origins | None = None) -> model.Level:
    """Return a level of a run, finished or not.

    Args:
        number: of the level, from 1 in the order of the run.
        simulate: makes episodes for the player; None leaves them out.
        origins: of the methods of the run; None reads them.
    """
    if origins is None:
        origins = read_origins(files)
    return _Reader(files, number, simulate, origins).level()


@dataclass(slots=True)
class _Turn:
    """A turn of CODE and ACT as far as the log tells; ``attempt`` is the index of its record in the trajectory."""

    calls: list[ShownCall] = field(default_factory=list)
    acted: bool = False
    attempt: int | None = None

    def is_followed_by(self, mode: str | None) -> bool:
        """Return whether a call of the coder in this mode belongs to the next turn.

        Within a turn, what follows an answer that could not be used is a repair; anything else begins anew.
        """
        if self.acted:
            return True
        if not self.calls:
            return False
        last = self.calls[-1]
        can_be_repaired = last.answered and not last.call.ok
        return can_be_repaired and mode not in (None, CoderMode.SYNTAX)


@dataclass(slots=True)
class _Round:
    """A round, or in round 0 one plan of a stored writer: ``writers`` are those that were tried on the way to it."""

    number: int
    planner: list[ShownCall] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)
    writers: list[TriedWriter] = field(default_factory=list)

    def open_turn(self, mode: str | None = None) -> _Turn:
        """Return the turn to which a call of the coder in this mode belongs; without one, an attempt."""
        if not self.turns or self.turns[-1].is_followed_by(mode):
            self.turns.append(_Turn())
        return self.turns[-1]

    def is_over(self) -> bool:
        """Return whether what comes next in round 0 is about another plan."""
        if not self.writers:
            return False
        return self.writers[-1].miss in ("", Miss.FAILED)


class _Reader:
    """Puts one level together."""

    def __init__(self, files: RunFiles, number_: int, simulate: Simulate | None, origins: Origins) -> None:
        self._files = files
        self._number = number_
        self._shelf = Shelf()
        self._transcripts = cache(files.read_object)  # the log may name one often
        self._origins = origins.get(number_, UNKNOWN)
        self._history = files.histories.get(number_, NO_HISTORY)
        self._summary = files.summaries.get(number_) or self._history.last("level_summary")
        trajectory = files.trajectory(self._summary) or {}
        attempts = items(trajectory.get("attempts"))
        self._attempts: Sequence[Mapping[str, Any]] = list(map(table, attempts))
        self._replayed = simulate(trajectory) if simulate and trajectory else None
        self._newest: dict[str, str] = {}
        library = self._origins.before
        if self._attempts and library.file:
            source = files.source(library.file) or ""
            self._newest["agent"] = self._shelf.put(source, "python", library.methods)

    def level(self) -> model.Level:
        skeleton = self._skeleton()
        _attach(skeleton, self._attempts)
        rounds = tuple(map(self._round, skeleton))
        is_under_way = self._files.level_under_way == self._number
        outcome, reason = ending(self._summary, self._history.begun, under_way=is_under_way)

        turns = [turn for round_ in rounds for turn in round_.tries]
        attempts = [turn.attempt for turn in turns if turn.attempt]
        last = attempts[-1] if attempts else None

        calls = [call for round_ in skeleton for call in round_.planner]
        missions = (call.mission for call in calls if call.mission)
        mission = (self._replayed and self._replayed.mission) or next(missions, "")

        return model.Level(
            number=self._number,
            mission=mission,
            outcome=outcome,
            reason=strip_folders(reason),
            blame=last.blame if last and outcome != "success" else None,
            rounds=rounds,
            offer=self._offer(),
            texts=self._shelf.texts,
        )

    def _offer(self) -> OfferedWriter | None:
        found = offer(self._summary)
        if found is None or not found.label:
            return found
        path = f"{WRITERS}/{found.label}"
        source = self._files.source(f"{path}.py") or ""
        domain = self._files.source(f"{path}.pddl") or ""
        return replace(found, source=self._shelf.put(source, "python"), domain=self._shelf.put(domain, "pddl"))

    def _skeleton(self) -> list[_Round]:
        """Return rounds, calls and attempts in the order of the log."""
        rounds = list[_Round]()
        for work, event, *_ in self._history.works:
            last = rounds[-1] if rounds else None
            if work == "writers_tried" or (work in _PART_OF_ROUND and last and last.is_over()):
                rounds.append(_Round(0))
            elif work == "spca_rounds" or not (last or work == "level_summary"):
                rounds.append(_Round(1 + (last.number if last else 0)))
            if work == "compiled_plan":
                rounds[-1].writers.append(read_tried(event))
            elif work == _PLANNED:
                rounds[-1].planner.append(read_call(self._transcripts, self._shelf, event))
            elif work == _CODED:
                call = read_call(self._transcripts, self._shelf, event)
                rounds[-1].open_turn(call.call.mode).calls.append(call)
            elif work == "simulation_runs":
                rounds[-1].open_turn().acted = True
        return rounds

    def _round(self, this: _Round) -> model.Round:
        """Return a round; its plan is that which was executed, else as far as its calls tell."""
        plan: tuple[model.Action, ...] = ()
        engine = domain = problem = ""
        last = this.planner[-1].call if this.planner else None
        if last and last.ok:
            plan = next((call.plan for turn in this.turns for call in turn.calls if call.plan), ())
            domain, problem = last.pddl or ("", "")

        executed = next((turn.attempt for turn in this.turns if turn.attempt is not None), None)
        attempt: Mapping[str, Any] = {} if executed is None else self._attempts[executed]
        if attempt:
            planned = map(table, items(attempt.get("plan")))
            plan = tuple(map(_action, planned))
            engine = text(attempt.get("engine"))
            domain = self._shelf.put(text(attempt.get("domain")), "pddl")
            problem = self._shelf.put(text(attempt.get("problem")), "pddl")

        return model.Round(
            number=this.number,
            calls=tuple(shown.call for shown in this.planner),
            plan=plan,
            engine=engine,
            domain=domain,
            problem=problem,
            domain_diff=self._follow("domain", domain),
            problem_diff=self._follow("problem", problem),
            tries=tuple(map(self._try, this.turns)),
            writers=tuple(this.writers),
        )

    def _follow(self, kind: str, new: str) -> model.Diff | None:
        """Return how a text differs from the one before of its kind, None where it does not or one is missing."""
        old = self._newest.get(kind)
        if new:
            self._newest[kind] = new
        if not old or not new:
            return None
        is_same = self._shelf.texts[old].lines == self._shelf.texts[new].lines
        return None if is_same else model.Diff(old, new)

    def _try(self, turn: _Turn) -> model.Try:
        calls = tuple(shown.call for shown in turn.calls)
        if turn.attempt is None:
            return model.Try(calls, None, None)
        attempt = self._attempt(turn.attempt)
        return model.Try(calls, self._follow("agent", attempt.agent), attempt)

    def _attempt(self, index: int) -> model.Attempt:
        record = self._attempts[index]
        file = text(record.get("agent"))
        source = self._files.source(file) if file else None
        known = self._origins.attempts[index : index + 1]  # none where the files changed meanwhile
        methods = known[0].methods if known else ()
        agent = self._shelf.put(source or "", "python", methods)
        blamed = None if source is None else blame(record, source, agent)
        if blamed:
            written = (each for each in methods if each.first <= blamed.line <= each.last)
            blamed = replace(blamed, written=next(written, None))
        replayed = self._replayed.attempts if self._replayed else ()
        episode, check = replayed[index] if index < len(replayed) else (None, _NOT_SIMULATED)
        return model.Attempt(
            round=count(record.get("round")),
            number=count(record.get("attempt")),
            reward=number(record.get("reward")) or 0.0,
            agent=agent,
            before=len(items(record.get("start"))),
            steps=tuple(takewhile(lambda step: -1 not in step, steps(record))),
            blame=blamed,
            episode=episode,
            check=check,
            file=file,
            **texts(record, "status", "message", "traceback", "printed"),
        )


def _attach(rounds: list[_Round], attempts: Sequence[Mapping[str, Any]]) -> None:
    """Give each turn that acted the next attempt of its round; those that the log does not have are added."""
    for index, attempt in enumerate(attempts):
        number_ = whole(attempt.get("round"))
        if number_ is None:
            number_ = 1
        these = [this for this in rounds if this.number == number_]
        waiting = (turn for this in these for turn in this.turns if turn.acted and turn.attempt is None)
        turn = next(waiting, None)
        if turn is None:
            turn = _Turn(acted=True)
            if not these or not number_:
                these.append(_Round(number_))
                rounds.append(these[-1])
            these[-1].turns.append(turn)
        turn.attempt = index
    rounds.sort(key=lambda this: this.number)


def _action(step: Mapping[str, Any]) -> model.Action:
    args = tuple(map(text, items(step.get("args"))))
    return model.Action(text(step.get("action")), args)
