"""The values of a report: the contents of run folders, in a form for terminals and pages.

::

    run folder --run_files--> RunFiles --runs--> Run (overview) --------------------> terminal, page
                                      --levels--> Level (rounds, calls, attempts) --> page
                              resimulation --> Film, Check --------------------------^

The arrows from the run folder to the values name the modules that make the values.

All classes are frozen. :func:`spca.common.web.packing.to_json` writes each object field by field, and the scripts of
the page read the fields by the same names. Times are in seconds since the beginning of the run, unless a docstring says
otherwise. ``None`` means that a value is not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spca.common.web.films import Film, Tiles
from spca.common.web.packing import Text
from spca.report.read.comparison import Comparison
from spca.report.read.writers import OfferedWriter, TriedWriter, WriterRow


@dataclass(frozen=True, slots=True)
class Method:
    """A version of a method of an agent, and the call that wrote the version.

    Attributes:
        first, last: first and last line in the source, from 1; decorators are included.
        level: number of the level in which the coder wrote the version; 0 if no call of the run wrote the version.
        attempt: round and number of the first attempt that ran the version, such as "1.2"; "" if ``level`` is 0.
        call: file of the coder's call; "" if ``level`` is 0.
    """

    name: str
    first: int
    last: int
    level: int = 0
    attempt: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class AgentText(Text):
    """The source of an agent. Two texts with the same source are different if the origins of their methods differ."""

    methods: tuple[Method, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests, tokens and cost.

    Attributes:
        cost_usd: sum of the known costs, in US dollars.
        cost_unknown: number of requests whose cost is not known.
        estimated: number of requests whose tokens are estimated, because the server did not report them.
    """

    requests: int = 0
    answered: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    reasoning_tokens: int = 0
    cost_usd: float = 0.0
    cost_unknown: int = 0
    estimated: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """An interval of a level's time.

    Attributes:
        phase: ``plan`` (a call of the planner), ``solve`` (the planning engine), ``code`` (a call of the coder) or
            ``act`` (an attempt).
        round: number of the round; 0 for plans of stored writers.
        start: beginning, in seconds since the beginning of the run.
        status: "" for a success, ``error`` for a failed call, the status of a failed attempt.
    """

    phase: str
    round: int
    start: float
    seconds: float
    status: str = ""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A level in the overview of a run.

    Attributes:
        number: position in the order of the run, from 1.
        outcome: ``success``, ``fail``, ``aborted``, ``running`` or ``pending``.
        started: time of the last start, in seconds since the beginning of the run.
        begun: number of starts, which is more than 1 if a kill interrupted the level.
        seconds: duration of the level.
        steps: primitives of the last attempt.
        steps_total: primitives of all attempts.
        durations: seconds of work by phase (``plan``, ``solve``, ``code``, ``act``).
        library: numbers of ``actions``, ``methods`` and ``bytes`` of the library after the level.
        corrections: names of the corrections that changed a judgement of the simulator.
        check: result of comparing the re-simulation with the recording: ``equal``, ``different``, ``unrecorded``
            (nothing was recorded to compare with) or "" (not re-simulated).
        version: text that changes whenever the content of the level changes.
        writer: the stored problem writer (``NAME/vNNN``) that made the last plan; "" if a model made the last plan.
        headline: for a failed level, a line about the end of the last attempt and the later rounds. The line is "" for
            other levels, and in an overview that was not made by :func:`spca.report.page.assembly.read_run`.
        group: for a failed level, the kind of the failure, such as ``stuck: pick_up``; "" in the same cases as
            ``headline``.
    """

    number: int
    category: str
    level: str
    env_id: str
    seed: int
    outcome: str
    reason: str = ""
    started: float | None = None
    begun: int = 0
    seconds: float | None = None
    rounds: int = 0
    attempts: int = 0
    planner_calls: int = 0
    coder_calls: int = 0
    steps: int | None = None
    steps_total: int | None = None
    usage: Usage = Usage()
    durations: Mapping[str, float] = field(default_factory=dict)
    library: Mapping[str, int] | None = None
    corrections: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    check: str = ""
    version: str = ""
    writer: str = ""
    headline: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class CategoryRow:
    """Sums over the levels of a category.

    Attributes:
        planned: number of levels in the run.
        finished: number of levels that were solved or failed.
        solved: number of solved levels.
    """

    name: str
    planned: int
    finished: int
    solved: int
    rounds: int
    planner_calls: int
    coder_calls: int
    steps: int
    seconds: float
    usage: Usage


@dataclass(frozen=True, slots=True)
class LibraryMethod:
    """The history of a method in a run; methods of primitives are excluded.

    Attributes:
        is_kept: whether the method is in the library at the end. Methods that a failed level wrote are discarded.
        is_action: whether the method is public; else the method is a helper.
        level, attempt, call: origin of the newest version, as in :class:`Method`. If the method was kept, the newest
            version is the version in the library, else the last version that ran.
        versions: number of different versions.
        failed: number of levels that failed at a line of the method.
    """

    name: str
    is_kept: bool
    is_action: bool
    level: int
    attempt: str
    call: str
    versions: int
    failed: int


@dataclass(frozen=True, slots=True)
class Run:
    """The overview of a run.

    Attributes:
        state: ``finished``, ``stopped`` or ``running`` (a process holds the lock of the folder).
        settings, versions: as recorded in ``run.json``.
        started, ended: times of the first and the last event, in seconds since the epoch.
        warnings: lines about files that could not be read.
        published: whether the run is the published baseline, of which less is known.
        git_dirty: whether files had been edited since the commit.
        hashes: hashes of product, prompts and curriculum, as recorded in ``run.json``.
        continuations: a line for each time that the run was resumed with another source or other models.
        replayed: whether every answer came from a recording, so that the cost is not known.
        methods: methods of all agents; () in an overview that was not made by
            :func:`spca.report.page.assembly.read_run`.
        primitives: names of the agent's primitives, by code.
    """

    id: str
    folder: str
    state: str
    settings: Mapping[str, Any]
    models: Mapping[str, str]
    versions: Mapping[str, str] = field(default_factory=dict)
    git_commit: str | None = None
    sandbox: str = ""
    seed: int | None = None
    started: float | None = None
    ended: float | None = None
    usage: Usage = Usage()
    categories: tuple[CategoryRow, ...] = ()
    levels: tuple[LevelRow, ...] = ()
    warnings: tuple[str, ...] = ()
    published: bool = False
    writers: tuple[WriterRow, ...] = ()
    git_dirty: bool | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)
    continuations: tuple[str, ...] = ()
    replayed: bool = False
    methods: tuple[LibraryMethod, ...] = ()
    primitives: tuple[str, ...] = ()

    @property
    def planned(self) -> int:
        """Number of the levels of the run, including unfinished levels."""
        return len(self.levels)

    @property
    def finished(self) -> int:
        return sum(row.outcome in ("success", "fail") for row in self.levels)

    @property
    def solved(self) -> int:
        return sum(row.outcome == "success" for row in self.levels)


@dataclass(frozen=True, slots=True)
class Report:
    """The part of a report that a page shows first; the page loads the levels piece by piece.

    Attributes:
        made: time at which the report was made, in seconds since the epoch.
        view: address, within the page, of the view with which the page opens; "" for the overview.
        running: whether a run is still going on.
    """

    title: str
    program: str
    made: float
    runs: tuple[Run, ...]
    tiles: Tiles
    comparisons: tuple[Comparison, ...] = ()
    view: str = ""
    running: bool = False


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """A message of a prompt; ``text`` is the id of a text."""

    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a model; ``answer``, ``pddl`` and ``code`` are ids of texts.

    Attributes:
        file: file of the transcript.
        phase: ``planner`` or ``coder``.
        error: message of the solver, the validator, the merge or the provider.
        cost: cost in US dollars.
        answer: the answer; "" if there was no answer.
        pddl: domain and problem in a planner's answer, else ().
        code: the problem writer in a planner's answer, or the methods in a coder's answer.
        objection: why the coder rejected the plan; "" if the coder did not reject the plan.
    """

    file: str
    phase: str
    mode: str
    model: str
    ok: bool
    error: str
    seconds: float
    solve_s: float
    source: str
    requests: int
    input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    cost: float | None
    finish: str = ""
    messages: tuple[ChatMessage, ...] = ()
    answer: str = ""
    pddl: tuple[str, ...] = ()
    code: str = ""
    objection: str = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """The ids of two texts whose difference the page shows."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Blame:
    """The line of generated code where an attempt ended.

    Attributes:
        agent: id of the agent's text.
        line: line in that text, from 1; 0 if no line is to blame.
        method: method of the line, or the method that the message names.
        first, last: first and last line of the method.
        position: step of the plan that was being carried out, from 0; None without a plan.
        why: why the line is to blame.
        written: version and origin of the method; None if no line is to blame.
    """

    round: int
    attempt: int
    status: str
    message: str
    agent: str
    line: int
    method: str
    first: int
    last: int
    position: int | None
    why: str
    written: Method | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """The result of comparing a re-simulation with its recording.

    Attributes:
        result: ``equal``, ``different``, ``unrecorded`` (nothing was recorded to compare with), or "" if there was no
            re-simulation.
        message: the result in words.
    """

    result: str
    message: str


@dataclass(frozen=True, slots=True)
class Action:
    """A step of a plan."""

    name: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution of a plan.

    Attributes:
        agent: id of the text of the agent that ran.
        before: number of primitives that were executed between the reset of the world and the attempt.
        steps: primitive, plan position (from 0) and source line (from 1) of each step.
        episode: the film for the player; None without a re-simulation.
        file: recorded file name of the agent; "" if not known.
    """

    round: int
    number: int
    status: str
    message: str
    traceback: str
    printed: str
    reward: float
    agent: str
    before: int
    steps: tuple[tuple[int, int, int], ...]
    blame: Blame | None
    episode: Film | None
    check: Check
    file: str = ""


@dataclass(frozen=True, slots=True)
class Try:
    """A turn of a round: calls of the coder (CODE), then at most one attempt (ACT).

    Attributes:
        calls: calls of the coder.
        diff: change of the agent's source since the previous attempt; None without a change.
        attempt: the attempt that followed; None if no attempt followed.
    """

    calls: tuple[Call, ...]
    diff: Diff | None
    attempt: Attempt | None


@dataclass(frozen=True, slots=True)
class Round:
    """A sense-plan-code-act round, or a plan of a stored problem writer.

    Attributes:
        number: number of the round, from 1; 0 for a plan of a stored writer.
        calls: calls of the planner.
        domain, problem: ids of the PDDL texts; "" without a plan.
        domain_diff, problem_diff: changes of the PDDL texts since the previous plan; None without a change.
        tries: turns of CODE and ACT.
        writers: for number 0, the tried writers. Only the last of them can have made a plan.
    """

    number: int
    calls: tuple[Call, ...]
    plan: tuple[Action, ...]
    engine: str
    domain: str
    problem: str
    domain_diff: Diff | None
    problem_diff: Diff | None
    tries: tuple[Try, ...]
    writers: tuple[TriedWriter, ...] = ()


@dataclass(frozen=True, slots=True)
class Level:
    """All details of a level.

    Attributes:
        blame: for an unsolved level, the blame of the last attempt, even if further rounds followed; None if no attempt
            was made.
        texts: texts by id. On a page, a text that several levels use is not here, but in a piece of the run.
        offer: the problem writer that the planner offered with the plan.
    """

    number: int
    mission: str
    outcome: str
    reason: str
    blame: Blame | None
    rounds: tuple[Round, ...]
    texts: Mapping[str, Text]
    offer: OfferedWriter | None = None
