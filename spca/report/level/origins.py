"""Who wrote each method of the agents that ran: which call of the coder, in which level of the run.

The log tells from which answer the code of an attempt came, and the file of its agent has that answer merged. A method
that the agent before lacked, or had with another text, was written by that call. Levels are read in order, each once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from spca.contracts import PRIMITIVE_METHODS, Status
from spca.report.level.headlines import describe_failure
from spca.report.read import outline
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, table, text
from spca.report.read.model import Blame, LibraryMethod, Method
from spca.report.read.outline import MethodLines
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import NO_HISTORY, Work
from spca.runs.recording.folder import FIRST_AGENT


@dataclass(frozen=True, slots=True)
class WrittenAgent:
    """An agent: its file, and its methods by what tells a version: a hash of name and text."""

    file: str = ""
    versions: Mapping[int, Method] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[Method, ...]:
        return tuple(self.versions.values())


@dataclass(frozen=True, slots=True)
class LevelOrigins:
    """What the attempts of a level ran, and how the level failed, if it did.

    Attributes:
        before, after: the library.
        attempts: agents, in the order of the trajectory.
        blame: that of the last attempt.
        headline, group: as in :class:`~spca.report.read.model.LevelRow`.
    """

    before: WrittenAgent
    after: WrittenAgent
    attempts: tuple[WrittenAgent, ...] = ()
    blame: Blame | None = None
    headline: str = ""
    group: str = ""


_NOBODY: Final = Method("", 0, 0)

Origins: TypeAlias = Mapping[int, LevelOrigins]
"""The levels of a run that were begun, by number, in order."""

UNKNOWN: Final = LevelOrigins(WrittenAgent(), WrittenAgent())
"""A level that was not begun."""


def read_origins(files: RunFiles) -> Origins:
    """Read the levels of a run."""
    reader = _Reader(files)
    first = library = reader.read_agent(FIRST_AGENT, WrittenAgent())
    carries_over = table(files.info.get("settings")).get("carry_over") is not False
    summaries = files.summaries
    category = None
    found: dict[int, LevelOrigins] = {}
    for number in sorted(summaries.keys() | files.histories.keys()):
        summary: Mapping[str, Any] = summaries.get(number, {})
        history = files.histories.get(number, NO_HISTORY)
        level = table(summary.get("level")) or history.last("level_start")
        if not carries_over and level.get("category") != category:
            library = first
        category = level.get("category")
        found[number] = reader.read_level(number, summary, library)
        library = found[number].after
    return found


def list_methods(origins: Origins) -> tuple[LibraryMethod, ...]:
    """Return the methods of all agents that ran, primitives left out, in the order in which they came.

    What a failed level wrote is thrown away; the library is that of the last level.
    """
    newest: dict[str, Method] = {}
    versions = defaultdict[str, set[int]](set)
    for level in origins.values():
        for agent in (level.before, *level.attempts, level.after):
            for version, method in agent.versions.items():
                newest[method.name] = method
                versions[method.name].add(version)

    levels = list(origins.values())
    library = {method.name for method in levels[-1].after.methods} if levels else set[str]()
    blames = filter(None, (level.blame for level in levels))
    failed = Counter(found.method for found in blames if found.line)

    return tuple(
        LibraryMethod(
            name=name,
            is_kept=name in library,
            is_action=not name.startswith("_"),
            level=method.level,
            attempt=method.attempt,
            call=method.call,
            versions=len(versions[name]),
            failed=failed[name],
        )
        for name, method in newest.items()
        if name not in PRIMITIVE_METHODS
    )


class _Reader:
    """Reads agents and levels; the file of an agent once, however many attempts ran it."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._read: dict[str, Mapping[int, MethodLines]] = {}

    def read_agent(self, file: str, base: WrittenAgent, origin: Method = _NOBODY) -> WrittenAgent:
        """Return an agent; what is in ``base`` keeps its origin, the rest has that of ``origin``."""
        if file not in self._read:
            source = self._files.source(file) or ""
            lines = source.split("\n")
            found = outline.methods(source)
            by_version = dict[int, MethodLines]()
            for method in found:
                body = lines[method.first - 1 : method.last]
                by_version[hash((method.name, *body))] = method
            self._read[file] = by_version

        versions = {}
        for version, lies in self._read[file].items():
            by = base.versions.get(version, origin)
            versions[version] = Method(lies.name, lies.first, lies.last, by.level, by.attempt, by.call)
        return WrittenAgent(file, versions)

    def read_level(self, number: int, summary: Mapping[str, Any], library: WrittenAgent) -> LevelOrigins:
        """Return what the attempts of a level ran; ``library`` is the agent before it."""
        trajectory = (self._files.trajectory(summary) if summary else None) or {}
        records = [table(each) for each in items(trajectory.get("attempts"))]
        works = self._files.histories.get(number, NO_HISTORY).works
        attempts = self._read_attempts(number, records, _find_calls(works), library)
        found = LevelOrigins(library, library, attempts)
        if summary.get("outcome") == "success":
            solved = attempts[-1] if attempts else self.read_agent(text(summary.get("agent_file")), library)
            return replace(found, after=solved)
        if summary.get("outcome") != "fail":
            return found
        blamed = None
        if records:
            file = attempts[-1].file
            source = self._files.source(file) if file else None
            blamed = blame(records[-1], source or "", "")
        headline, group = describe_failure(summary, works, blamed)
        return replace(found, blame=blamed, headline=headline, group=group)

    def _read_attempts(
        self,
        level: int,
        records: Iterable[Mapping[str, Any]],
        calls: Mapping[tuple[int, int], str],
        library: WrittenAgent,
    ) -> tuple[WrittenAgent, ...]:
        """Return the agents of attempts; where one cannot be read, the one that it was made of."""
        agents: list[WrittenAgent] = []
        numbers = Counter[int]()
        stored: dict[str, WrittenAgent] = {}
        kept = base = library
        is_carried_out = False
        for record in records:
            this = count(record.get("round"))
            numbers[this] += 1
            if is_carried_out and numbers[this] == 1:
                kept = base  # for the rounds to come
            is_carried_out = record.get("status") == Status.GOAL_NOT_REACHED
            # A planner may come to the plan of a stored writer, and goes on with the code that was tried for it.
            plan = repr((record.get("plan"), record.get("start_hash")))
            if not this:
                base = kept
            elif numbers[this] == 1:
                base = stored.get(plan, kept)
            file = text(record.get("agent"))
            call = calls.get((this, numbers[this]), "")
            if file and file != base.file:
                name = f"{this}.{count(record.get('attempt'))}"
                base = self.read_agent(file, base, Method("", 0, 0, level, name, call) if call else _NOBODY)
            if not this:
                stored[plan] = base
            agents.append(base)
        return tuple(agents)


def _find_calls(works: Iterable[Work]) -> dict[tuple[int, int], str]:
    """Return the file of the call that the code of an attempt came of, by round and number within the round.

    An attempt that ran what was there has none.
    """
    found: dict[tuple[int, int], str] = {}
    call = ""
    for work in works:
        if work.kind == "coder_call":
            event = work.event
            if event.get("ok") is True and not event.get("objection"):
                call = text(event.get("transcript"))
            continue
        if work.kind == "simulation_runs":
            found[work.round, work.attempt] = call
        call = ""
    return found
