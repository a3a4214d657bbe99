"""Reader of the details of a level: rounds with calls, plans, code and attempts, in the order of events.

The log gives the order, transcripts give prompts and answers, and the trajectory gives the executed attempts. An
unfinished level has no trajectory yet. If a file of a damaged run is missing, the details from the other files are
still shown.
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
"""Function that re-simulates the content of a trajectory file."""

_PLANNED: Final = f"{PLANNER}_call"
_CODED: Final = f"{CODER}_call"
_PART_OF_ROUND: Final = (_PLANNED, _CODED, "compiled_plan", "simulation_runs")
_NOT_SIMULATED: Final = model.Check("", "not re-simulated")


def level(files: RunFiles, number: int, simulate: Simulate | None, origins: Origins | None = None) -> model.Level:
    """Return the details of a level of a run; the level may be unfinished.

    Args:
        number: number of the level, from 1 in the order of the run.
        simulate: makes the films for the player; None for no films.
        origins: origins of the methods of the run; None to read the origins here.
    """
    if origins is None:
        origins = read_origins(files)
    return _Reader(files, number, simulate, origins).level()


@dataclass(slots=True)
class _Turn:
    """A turn of a round, as recorded in the log: calls of the coder (CODE), then at most one attempt (ACT).

    Attributes:
        calls: calls of the coder.
        acted: whether the log records an attempt in this turn.
        attempt: index of the attempt's record in the trajectory; None without a record.
    """

    calls: list[ShownCall] = field(default_factory=list)
    acted: bool = False
    attempt: int | None = None

    def is_followed_by(self, mode: str | None) -> bool:
        """Return whether a new call of the coder, or a new attempt, belongs to the next turn and not to this turn.

        A turn with an attempt is complete. After an answer that has text but could not be used, a new call belongs to
        this turn only if the call repairs the answer's syntax.

        Args:
            mode: mode of the new call; None for an attempt.
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
    """A round, or a plan of a stored writer, as recorded in the log.

    Attributes:
        number: number of the round, from 1; 0 for a plan of a stored writer.
        writers: for number 0, the writers that were tried. Only the last of them can have made a plan.
    """

    number: int
    planner: list[ShownCall] = field(default_factory=list)
    turns: list[_Turn] = field(default_factory=list)
    writers: list[TriedWriter] = field(default_factory=list)

    def open_turn(self, mode: str | None = None) -> _Turn:
        """Return the turn for a new call of the coder, or for a new attempt; begin a turn if necessary.

        Args:
            mode: mode of the new call; None for an attempt.
        """
        if not self.turns or self.turns[-1].is_followed_by(mode):
            self.turns.append(_Turn())
        return self.turns[-1]

    def is_over(self) -> bool:
        """Return whether this is a round 0 for which a writer has already made the plan.

        If so, later work belongs to a new round.
        """
        if not self.writers:
            return False
        return self.writers[-1].miss in ("", Miss.FAILED)


class _Reader:
    """Reads the details of one level."""

    def __init__(self, files: RunFiles, level_number: int, simulate: Simulate | None, origins: Origins) -> None:
        self._files = files
        self._number = level_number
        self._shelf = Shelf()
        self._transcripts = cache(files.read_object)  # several events may name the same transcript
        self._origins = origins.get(level_number, UNKNOWN)
        self._history = files.histories.get(level_number, NO_HISTORY)
        self._summary = files.summaries.get(level_number) or self._history.last("level_summary")
        trajectory = files.trajectory(self._summary) or {}
        attempts = items(trajectory.get("attempts"))
        self._attempts: Sequence[Mapping[str, Any]] = list(map(table, attempts))
        self._replayed = simulate(trajectory) if simulate and trajectory else None
        self._newest: dict[str, str] = {}  # id of the newest text by kind: agent, domain, problem
        library = self._origins.before
        if self._attempts and library.file:
            source = files.source(library.file) or ""
            self._newest["agent"] = self._shelf.put(source, "python", library.methods)

    def level(self) -> model.Level:
        """Return the details of the level."""
        logged_rounds = self._read_rounds()
        _attach(logged_rounds, self._attempts)
        rounds = tuple(map(self._round, logged_rounds))
        is_under_way = self._files.level_under_way == self._number
        outcome, reason = ending(self._summary, self._history.begun, under_way=is_under_way)

        turns = [turn for shown_round in rounds for turn in shown_round.tries]
        attempts = [turn.attempt for turn in turns if turn.attempt]
        last_blame = attempts[-1].blame if attempts else None

        mission = self._replayed.mission if self._replayed else ""
        if not mission:
            calls = [call for logged_round in logged_rounds for call in logged_round.planner]
            mission = next((call.mission for call in calls if call.mission), "")

        return model.Level(
            number=self._number,
            mission=mission,
            outcome=outcome,
            reason=strip_folders(reason),
            blame=None if outcome == "success" else last_blame,
            rounds=rounds,
            offer=self._offer(),
            texts=self._shelf.texts,
        )

    def _offer(self) -> OfferedWriter | None:
        """Return the writer that the planner offered, with its texts if it was accepted; None if there was no offer."""
        offered = offer(self._summary)
        if offered is None or not offered.label:
            return offered
        path = f"{WRITERS}/{offered.label}"
        source = self._files.source(f"{path}.py") or ""
        domain = self._files.source(f"{path}.pddl") or ""
        return replace(offered, source=self._shelf.put(source, "python"), domain=self._shelf.put(domain, "pddl"))

    def _read_rounds(self) -> list[_Round]:
        """Return the rounds of the log with calls and turns; :func:`_attach` adds the records of attempts later."""
        rounds: list[_Round] = []
        for work, event, *_ in self._history.works:
            last = rounds[-1] if rounds else None
            follows_writer = work in _PART_OF_ROUND and last is not None and last.is_over()
            # Without a round, a damaged log lacks the start of the first round.
            lacks_round = last is None and work != "level_summary"
            if work == "writers_tried" or follows_writer:
                rounds.append(_Round(0))
            elif work == "spca_rounds" or lacks_round:
                number_before = last.number if last else 0
                rounds.append(_Round(number_before + 1))

            if work == "compiled_plan":
                rounds[-1].writers.append(read_tried(event))
            elif work == _PLANNED:
                rounds[-1].planner.append(read_call(self._transcripts, self._shelf, event))
            elif work == _CODED:
                shown = read_call(self._transcripts, self._shelf, event)
                rounds[-1].open_turn(shown.call.mode).calls.append(shown)
            elif work == "simulation_runs":
                rounds[-1].open_turn().acted = True
        return rounds

    def _round(self, logged: _Round) -> model.Round:
        """Return the details of a round. The plan is that of the first executed attempt, or else that of the round's
        calls.
        """
        plan: tuple[model.Action, ...] = ()
        engine = ""
        domain = ""
        problem = ""
        last_call = logged.planner[-1].call if logged.planner else None
        if last_call and last_call.ok:
            coder_calls = (call for turn in logged.turns for call in turn.calls)
            plan = next((call.plan for call in coder_calls if call.plan), ())
            domain, problem = last_call.pddl or ("", "")

        executed = [turn.attempt for turn in logged.turns if turn.attempt is not None]
        attempt: Mapping[str, Any] = self._attempts[executed[0]] if executed else {}
        if attempt:
            steps_of_plan = map(table, items(attempt.get("plan")))
            plan = tuple(map(_action, steps_of_plan))
            engine = text(attempt.get("engine"))
            domain = self._shelf.put(text(attempt.get("domain")), "pddl")
            problem = self._shelf.put(text(attempt.get("problem")), "pddl")

        return model.Round(
            number=logged.number,
            calls=tuple(shown.call for shown in logged.planner),
            plan=plan,
            engine=engine,
            domain=domain,
            problem=problem,
            domain_diff=self._replace_newest("domain", domain),
            problem_diff=self._replace_newest("problem", problem),
            tries=tuple(map(self._try, logged.turns)),
            writers=tuple(logged.writers),
        )

    def _replace_newest(self, kind: str, new: str) -> model.Diff | None:
        """Record a text as the newest of its kind, and return its difference from the previous newest text.

        Return None if the texts are equal, or if one of them is missing.

        Args:
            kind: agent, domain or problem.
            new: id of the text; "" for a missing text, which changes nothing.
        """
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
        return model.Try(calls, self._replace_newest("agent", attempt.agent), attempt)

    def _attempt(self, index: int) -> model.Attempt:
        """Return the attempt at an index of the trajectory, with its blame and its film."""
        record = self._attempts[index]
        file = text(record.get("agent"))
        source = self._files.source(file) if file else None
        # The origins lack the attempt if the files have changed since the origins were read.
        has_origins = index < len(self._origins.attempts)
        methods = self._origins.attempts[index].methods if has_origins else ()
        agent = self._shelf.put(source or "", "python", methods)
        blamed = None if source is None else blame(record, source, agent)
        if blamed:
            containing = (each for each in methods if each.first <= blamed.line <= each.last)
            blamed = replace(blamed, written=next(containing, None))
        replayed = self._replayed.attempts if self._replayed else ()
        episode, check = replayed[index] if index < len(replayed) else (None, _NOT_SIMULATED)
        readable_steps = takewhile(lambda step: -1 not in step, steps(record))
        return model.Attempt(
            round=count(record.get("round")),
            number=count(record.get("attempt")),
            reward=number(record.get("reward")) or 0.0,
            agent=agent,
            before=len(items(record.get("start"))),
            steps=tuple(readable_steps),
            blame=blamed,
            episode=episode,
            check=check,
            file=file,
            **texts(record, "status", "message", "traceback", "printed"),
        )


def _attach(rounds: list[_Round], attempts: Sequence[Mapping[str, Any]]) -> None:
    """Assign each attempt of the trajectory to a turn in ``rounds``, and sort the rounds.

    An attempt belongs to the first turn of its round that acted and has no attempt yet. If the log lacks the turn or
    the round, add it to ``rounds``.
    """
    for index, attempt in enumerate(attempts):
        round_number = whole(attempt.get("round"))
        if round_number is None:
            round_number = 1
        candidates = [each for each in rounds if each.number == round_number]
        turns = [turn for each in candidates for turn in each.turns]
        waiting = (turn for turn in turns if turn.acted and turn.attempt is None)
        turn = next(waiting, None)
        if turn is None:
            turn = _Turn(acted=True)
            # Number 0 stands for a single plan of a stored writer, so that each attempt gets a round of its own.
            if not candidates or round_number == 0:
                candidates.append(_Round(round_number))
                rounds.append(candidates[-1])
            candidates[-1].turns.append(turn)
        turn.attempt = index
    rounds.sort(key=lambda each: each.number)


def _action(step: Mapping[str, Any]) -> model.Action:
    args = tuple(map(text, items(step.get("args"))))
    return model.Action(text(step.get("action")), args)
