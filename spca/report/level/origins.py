"""Who wrote each method of the agents that ran: which call of the coder, in which level of the run.

The log tells from which answer the code of an attempt came, and the file of its agent has that answer merged. A method
that the agent before lacked, or had with another text, was written by that call. Levels are read in order, each once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

from spca.common.text import visible
from spca.contracts import PRIMITIVE_METHODS, Status
from spca.report.level.headlines import describe_failure, name_group
from spca.report.read import outline
from spca.report.read.blame import blame
from spca.report.read.lenient import count, items, table, text
from spca.report.read.model import Blame, LibraryMethod, Method
from spca.report.read.run_files import RunFiles
from spca.report.read.spans import Event
from spca.runs.recording.folder import FIRST_AGENT


@dataclass(frozen=True, slots=True)
class WrittenAgent:
    """An agent: its file, its methods, and for each of these what tells its version: a hash of name and text."""

    file: str = ""
    methods: tuple[Method, ...] = ()
    versions: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LevelOrigins:
    """What the attempts of a level ran, and how the level failed, if it did.

    Attributes:
        summary: of the level, {} until it has ended.
        before, after: the library.
        attempts: agents, in the order of the trajectory.
        blame: that of the last attempt.
        headline, group: as in :class:`~spca.report.read.model.LevelRow`.
    """

    summary: Mapping[str, Any]
    before: WrittenAgent
    after: WrittenAgent
    attempts: tuple[WrittenAgent, ...] = ()
    blame: Blame | None = None
    headline: str = ""
    group: str = ""


Origins: TypeAlias = Mapping[int, LevelOrigins]
"""The levels of a run that were begun, by number, in order."""

UNKNOWN: Final = LevelOrigins({}, WrittenAgent(), WrittenAgent())
"""A level that was not begun."""


def read_origins(files: RunFiles, earlier: Origins = MappingProxyType({})) -> Origins:
    """Read the levels of a run.

    Args:
        earlier: what was read of the run before; what it has of finished levels is not read again.
    """
    reader = _Reader(files)
    first = library = reader.read_agent(FIRST_AGENT, WrittenAgent())
    carries_over = table(files.info.get("settings")).get("carry_over") is not False
    summaries, category = files.summaries(), None
    found: dict[int, LevelOrigins] = {}
    for number in sorted(summaries.keys() | files.histories.keys()):
        summary: Mapping[str, Any] = summaries.get(number, {})
        history = files.histories.get(number)
        level = table(summary.get("level")) or (history.last("level_start") if history else {})
        if not carries_over and level.get("category") != category:
            library = first
        category = level.get("category")
        known = earlier.get(number)
        if not known or not summary or (known.summary, known.before) != (summary, library):
            known = reader.read_level(number, summary, library)
        found[number] = known
        library = known.after
    return found


def list_methods(origins: Origins) -> tuple[LibraryMethod, ...]:
    """Return the methods of all agents that ran, primitives left out, in the order in which they came."""
    newest: dict[str, Method] = {}
    versions: dict[str, set[int]] = {}
    seen: set[tuple[int, int, str]] = set()
    levels = list(origins.values())
    agents = [each.before for each in levels[:1]]
    agents += [agent for each in levels for agent in (*each.attempts, each.after)]
    for agent in agents:
        for method, version in zip(agent.methods, agent.versions, strict=True):
            introduced = (version, method.level, method.attempt)
            if introduced not in seen:
                seen.add(introduced)
                newest[method.name] = method
                versions.setdefault(method.name, set()).add(version)

    kept = {method.name: method for each in levels[-1:] for method in each.after.methods}
    failed = Counter(level.blame.method for level in levels if level.blame and level.blame.line)
    return tuple(
        LibraryMethod(
            name=name,
            is_action=not name.startswith("_"),
            is_kept=name in kept,
            level=method.level,
            attempt=method.attempt,
            call=method.call,
            versions=len(versions[name]),
            failed=failed[name],
        )
        for name, method in (newest | kept).items()
        if name not in PRIMITIVE_METHODS
    )


class _Reader:
    """Reads agents and levels; the file of an agent once, however many attempts ran it."""

    def __init__(self, files: RunFiles) -> None:
        self._files = files
        self._agents: dict[str, WrittenAgent] = {}

    def read_agent(
        self, file: str, base: WrittenAgent, level: int = 0, attempt: str = "", call: str = ""
    ) -> WrittenAgent:
        """Return an agent; what is in ``base`` keeps its origin, the rest has the given one."""
        agent = self._read_methods(file)
        before = dict(zip(base.versions, base.methods, strict=True))
        methods = []
        for method, version in zip(agent.methods, agent.versions, strict=True):
            known = before.get(version)
            origin = (known.level, known.attempt, known.call) if known else (level, attempt, call)
            methods.append(Method(method.name, method.first, method.last, *origin))
        return replace(agent, methods=tuple(methods))

    def _read_methods(self, file: str) -> WrittenAgent:
        """Return an agent whose methods nobody has written."""
        if file not in self._agents:
            source = self._files.source(file) or ""
            lines = source.split("\n")
            found = outline.methods(source)
            methods = tuple(Method(each.name, each.first, each.last) for each in found)
            versions = tuple(hash((each.name, *lines[each.first - 1 : each.last])) for each in found)
            self._agents[file] = WrittenAgent(file, methods, versions)
        return self._agents[file]

    def read_level(self, number: int, summary: Mapping[str, Any], library: WrittenAgent) -> LevelOrigins:
        """Return what the attempts of a level ran; ``library`` is the agent before it."""
        trajectory = (self._files.trajectory(summary) if summary else None) or {}
        records = [table(each) for each in items(trajectory.get("attempts"))]
        history = self._files.histories.get(number)
        works = history.works if history else ()
        attempts = self._read_attempts(number, records, _find_calls(works), library)
        if summary.get("outcome") == "success":
            solved = attempts[-1] if attempts else self.read_agent(text(summary.get("agent_file")), library)
            return LevelOrigins(summary, library, solved, attempts)
        if summary.get("outcome") != "fail":
            return LevelOrigins(summary, library, library, attempts)
        blamed = None
        if records:
            source = self._files.source(attempts[-1].file) if attempts[-1].file else None
            blamed = blame(records[-1], source or "", "")
        headline = describe_failure(summary, works, blamed)
        return LevelOrigins(summary, library, library, attempts, blamed, headline, name_group(summary, works, blamed))

    def _read_attempts(
        self,
        level: int,
        records: Sequence[Mapping[str, Any]],
        calls: Mapping[tuple[int, int], str],
        library: WrittenAgent,
    ) -> tuple[WrittenAgent, ...]:
        """Return the agents of attempts; where one cannot be read, the one that it was made of."""
        agents: list[WrittenAgent] = []
        numbers = Counter[int]()
        kept = library
        for at, record in enumerate(records):
            this = count(record.get("round"))
            numbers[this] += 1
            if numbers[this] == 1 and at and records[at - 1].get("status") == Status.GOAL_NOT_REACHED:
                kept = agents[-1]  # the code of a plan that was carried out is kept for the rounds to come
            same = [i for i in range(at) if _goes_on_from(records[i], record)]
            base = agents[same[-1]] if same else kept
            file = text(record.get("agent"))
            call = calls.get((this, numbers[this]))
            if not file or file == base.file:
                agents.append(base)
            elif call is None:
                agents.append(self.read_agent(file, base))
            else:
                name = f"{this}.{count(record.get('attempt'))}"
                agents.append(self.read_agent(file, base, level, name, call))
        return tuple(agents)


def _goes_on_from(earlier: Mapping[str, Any], record: Mapping[str, Any]) -> bool:
    """Return whether an attempt goes on with the code of an earlier one: of its round, or at its plan in round 0."""
    if not count(record.get("round")):
        return False
    if count(earlier.get("round")):
        return earlier.get("round") == record.get("round")
    return all(earlier.get(name) == record.get(name) for name in ("plan", "start", "start_hash"))


def _find_calls(works: Iterable[tuple[str, Event]]) -> dict[tuple[int, int], str]:
    """Return the file of the call that the code of an attempt came of, by round and number within the round.

    An attempt that ran what was there has none.
    """
    found: dict[tuple[int, int], str] = {}
    this = number = 0
    call: str | None = None
    for work, event in works:
        if work == "coder_call":
            if event.get("ok") is True and not event.get("objection"):
                call = visible(text(event.get("transcript")))
            continue
        if work == "simulation_runs":
            number += 1
            if call is not None:
                found[this, number] = call
        elif work == "spca_rounds":
            this, number = this + 1, 0
        call = None
    return found
