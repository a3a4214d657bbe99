"""Origins of methods: which call of the coder, in which level, wrote each method of the agents that ran.

The log names the call whose answer was merged into the agent of an attempt. The call wrote a method of this agent if
the previous agent lacks the method, or has another text for the method. The levels are read in order, each level once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias

from spca.contracts import Status
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
    """An agent whose methods have origins.

    Attributes:
        file: file of the agent; "" for an unknown agent.
        versions: methods with their origins, by a hash of the method's name and text.
    """

    file: str = ""
    versions: Mapping[int, Method] = field(default_factory=dict)

    @property
    def methods(self) -> tuple[Method, ...]:
        return tuple(self.versions.values())


@dataclass(frozen=True, slots=True)
class LevelOrigins:
    """The agents of a level and, for a failed level, the failure.

    Attributes:
        before, after: the library before and after the level.
        attempts: the agents that the attempts ran, in the order of the trajectory.
        blame: blame of the last attempt of a failed level.
        headline, group: as in :class:`~spca.report.read.model.LevelRow`.
    """

    before: WrittenAgent
    after: WrittenAgent
    attempts: tuple[WrittenAgent, ...] = ()
    blame: Blame | None = None
    headline: str = ""
    group: str = ""


_NO_ORIGIN: Final = Method("", 0, 0)
"""Origin of methods that no call of the run wrote."""

Origins: TypeAlias = Mapping[int, LevelOrigins]
"""The levels of a run that were begun, by number, in ascending order."""

UNKNOWN: Final = LevelOrigins(WrittenAgent(), WrittenAgent())
"""The origins of a level that was not begun."""


def read_origins(files: RunFiles) -> Origins:
    """Return the agents of all levels of a run that were begun.

    The library after a level is the library before the next level. If ``carry_over`` is off, each category begins with
    the first library.
    """
    reader = _Reader(files)
    first_library = reader.read_agent(FIRST_AGENT, WrittenAgent())
    library = first_library
    carries_over = table(files.info.get("settings")).get("carry_over") is not False
    summaries = files.summaries
    category = None
    origins: dict[int, LevelOrigins] = {}
    for number in sorted(summaries.keys() | files.histories.keys()):
        summary: Mapping[str, Any] = summaries.get(number, {})
        history = files.histories.get(number, NO_HISTORY)
        level = table(summary.get("level")) or history.last("level_start")
        if not carries_over and level.get("category") != category:
            library = first_library  # each category begins with the first library
        category = level.get("category")
        origins[number] = reader.read_level(number, summary, library)
        library = origins[number].after
    return origins


def list_methods(origins: Origins, primitives: Collection[str]) -> tuple[LibraryMethod, ...]:
    """Return the methods of all agents that ran, except primitives, in the order of their first appearance.

    A method counts as kept if it is in the library after the last level.
    """
    newest: dict[str, Method] = {}
    versions = defaultdict[str, set[int]](set)
    previous: WrittenAgent | None = None
    for level in origins.values():
        for agent in (level.before, *level.attempts, level.after):
            if agent is previous:
                continue
            previous = agent
            for version, method in agent.versions.items():
                newest[method.name] = method
                versions[method.name].add(version)

    levels = list(origins.values())
    library = {method.name for method in levels[-1].after.methods} if levels else set[str]()
    blames = [level.blame for level in levels if level.blame]
    failures = Counter(each.method for each in blames if each.line)

    listed = []
    for name, method in newest.items():
        if name in primitives:
            continue
        library_method = LibraryMethod(
            name=name,
            is_kept=name in library,
            is_action=not name.startswith("_"),
            level=method.level,
            attempt=method.attempt,
            call=method.call,
            versions=len(versions[name]),
            failed=failures[name],
        )
        listed.append(library_method)
    return tuple(listed)


class _Reader:
    """Reads agents and levels. The file of an agent is parsed once, even if several attempts ran the agent."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        # Lines of the methods by version (hash of name and text), by file.
        self._parsed: dict[str, Mapping[int, MethodLines]] = {}

    def read_agent(self, file: str, base: WrittenAgent, origin: Method = _NO_ORIGIN) -> WrittenAgent:
        """Return an agent with the origins of its methods.

        Args:
            file: the agent's file.
            base: the previous agent. A method whose text is the same in both agents keeps its origin.
            origin: origin of all other methods.
        """
        if file not in self._parsed:
            self._parsed[file] = self._parse(file)
        versions = {}
        for version, method in self._parsed[file].items():
            written = base.versions.get(version, origin)
            versions[version] = Method(
                method.name, method.first, method.last, written.level, written.attempt, written.call
            )
        return WrittenAgent(file, versions)

    def _parse(self, file: str) -> Mapping[int, MethodLines]:
        """Return the lines of an agent's methods, by a hash of the method's name and text."""
        source = self._files.source(file) or ""
        lines = source.split("\n")
        by_version: dict[int, MethodLines] = {}
        for method in outline.methods(source):
            body = lines[method.first - 1 : method.last]
            by_version[hash((method.name, *body))] = method
        return by_version

    def read_level(self, number: int, summary: Mapping[str, Any], library: WrittenAgent) -> LevelOrigins:
        """Return the agents of a level and, for a failed level, the failure.

        Args:
            number: number of the level, from 1.
            summary: the level's summary; {} for an unfinished level.
            library: the library before the level.
        """
        trajectory = (self._files.trajectory(summary) if summary else None) or {}
        records = [table(each) for each in items(trajectory.get("attempts"))]
        works = self._files.histories.get(number, NO_HISTORY).works
        attempts = self._read_attempts(number, records, _find_calls(works), library)
        origins = LevelOrigins(library, library, attempts)
        if summary.get("outcome") == "success":
            solved = attempts[-1] if attempts else self.read_agent(text(summary.get("agent_file")), library)
            return replace(origins, after=solved)
        if summary.get("outcome") != "fail":
            return origins
        blamed = None
        if records:
            file = attempts[-1].file
            source = self._files.source(file) if file else None
            blamed = blame(records[-1], source or "", "")
        headline, group = describe_failure(summary, works, blamed)
        return replace(origins, blame=blamed, headline=headline, group=group)

    def _read_attempts(
        self,
        level: int,
        records: Iterable[Mapping[str, Any]],
        calls: Mapping[tuple[int, int], str],
        library: WrittenAgent,
    ) -> tuple[WrittenAgent, ...]:
        """Return the agent of each attempt. An attempt that names no file ran the agent that the attempt began with.

        The first attempt of a round begins with the library, or with the agent of the last plan that was carried out
        completely. If a stored writer made the same plan earlier, the round begins with the agent of the writer's
        attempt. Each later attempt of the round begins with the agent of the attempt before.

        Args:
            level: number of the level.
            records: attempts of the trajectory.
            calls: files of the calls that wrote the code; see :func:`_find_calls`.
            library: the library before the level.
        """
        agents: list[WrittenAgent] = []
        attempts_of_round = Counter[int]()
        stored: dict[str, WrittenAgent] = {}  # agents of the plans of stored writers, by plan
        round_base = library
        base = library
        is_carried_out = False
        for record in records:
            round_number = count(record.get("round"))
            is_stored_plan = round_number == 0
            attempts_of_round[round_number] += 1
            attempt_number = attempts_of_round[round_number]
            if is_carried_out and attempt_number == 1:
                round_base = base
            is_carried_out = record.get("status") == Status.GOAL_NOT_REACHED
            plan = repr((record.get("plan"), record.get("start_hash")))
            if is_stored_plan:
                base = round_base
            elif attempt_number == 1:
                base = stored.get(plan, round_base)
            file = text(record.get("agent"))
            if file and file != base.file:
                call = calls.get((round_number, attempt_number), "")
                name = f"{round_number}.{count(record.get('attempt'))}"
                origin = Method("", 0, 0, level, name, call) if call else _NO_ORIGIN
                base = self.read_agent(file, base, origin)
            if is_stored_plan:
                stored[plan] = base
            agents.append(base)
        return tuple(agents)


def _find_calls(works: Iterable[Work]) -> dict[tuple[int, int], str]:
    """Return, for each attempt, the transcript file of the call that wrote the attempt's code.

    A key is (round, number of the attempt in the round). The file is "" if no call wrote new code for the attempt.
    """
    calls: dict[tuple[int, int], str] = {}
    call = ""
    for work in works:
        if work.kind == "coder_call":
            event = work.event
            if event.get("ok") is True and not event.get("objection"):
                call = text(event.get("transcript"))
            continue
        if work.kind == "simulation_runs":
            calls[work.round, work.attempt] = call
        call = ""
    return calls
