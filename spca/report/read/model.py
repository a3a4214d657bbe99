"""The values of a report: what is read from run folders, before it is shown on a terminal or on a page.

::

    run folder --reading--> RunFiles --runs--> Run (overview) --------------------> terminal, page
                                    --levels--> Level (rounds, calls, attempts) --> page
                            resimulating --> GridFilm, Check ----------------------^

Everything is frozen and becomes JSON field by field (:func:`spca.common.web.packing.to_json`); the scripts of the page
read the same names. Seconds are since the beginning of the run unless said otherwise. ``None`` means not known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from spca.common.web.films import GridFilm, Tiles
from spca.common.web.packing import Text
from spca.report.read.comparison import Comparison
from spca.report.read.writers import OfferedWriter, TriedWriter, WriterRow


@dataclass(frozen=True, slots=True)
class Method:
    """A version of a method of an agent, and who wrote it; lines count from 1, decorators included.

    ``level`` is the number of the level whose coder wrote it, ``attempt`` the attempt that ran it first ("1.2") and
    ``call`` the file of the call; 0 and "" where no call of the run wrote it.
    """

    name: str
    first: int
    last: int
    level: int = 0
    attempt: str = ""
    call: str = ""


@dataclass(frozen=True, slots=True)
class AgentText(Text):
    """The source of an agent. The same source is another text where its methods have other origins."""

    methods: tuple[Method, ...] = ()


@dataclass(frozen=True, slots=True)
class Usage:
    """Requests, tokens and cost. ``cost_usd`` sums the costs that are known, ``cost_unknown`` counts the others;
    ``estimated`` counts requests whose tokens the server did not tell."""

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
    """A stretch of a level's time. ``phase``: ``plan`` (a call of the planner), ``solve``, ``code`` (a call of the
    coder) or ``act`` (an attempt). ``status`` is "" for what went well, else a word: ``error`` of calls, the outcome
    of attempts."""

    phase: str
    round: int
    start: float
    seconds: float
    status: str = ""


@dataclass(frozen=True, slots=True)
class LevelRow:
    """A level in the overview.

    ``number`` counts from 1 in the order of the run. ``outcome``: ``success``, ``fail``, ``aborted``, ``running`` or
    ``pending``; ``begun`` is how often it was begun (more than once after kills). ``seconds`` and ``durations``
    (``plan``, ``solve``, ``code``, ``act``) are seconds of work; ``started`` when it was begun, in seconds since the
    beginning of the run. ``library`` is ``actions``, ``methods``, ``bytes`` after the level. ``check`` says whether
    its re-simulation matches the recording: ``equal``, ``different``, ``unrecorded`` (nothing to compare with), "" (not
    tried). ``version`` changes whenever there is something new to see in the level. ``writer`` is the stored problem
    writer (``NAME/vNNN``) that made its last plan, "" where a model did.

    Of a level that failed, ``headline`` says in words how its last attempt ended, where, and what came after it;
    ``group`` is the same for failures of one kind: ``stuck: pick_up``. Both are "" for other levels, and where attempts
    were not read (:func:`spca.report.page.assembly.read_run` reads them).
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
    """Sums over a category; ``planned`` levels of it are in the run, ``finished`` have ended, ``solved`` well."""

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
    """What became of a method in a run; primitives are left out.

    ``is_kept``: it is in the library at the end; what a failed level wrote is thrown away. ``is_action``: it is public,
    else it is a helper. ``level``, ``attempt`` and ``call`` say, as in :class:`Method`,
    who wrote its newest version: that of the library, else the last one that ran. ``versions`` counts its texts,
    ``failed`` the levels that failed at a line of it.
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

    ``state``: ``finished``, ``stopped`` or ``running`` (a process holds its folder). ``started`` and ``ended`` are
    seconds since the epoch. ``settings`` and ``versions`` are as recorded in ``run.json``, and so are ``git_dirty``
    (whether files had been edited since the commit) and ``hashes`` (of product, prompts and curriculum);
    ``continuations`` say with what other source the run went on. ``warnings`` say what of the folder could not be read.
    ``published`` marks the baseline, which knows less. ``replayed``: every answer came from a recording; what such an
    answer cost is not known. ``methods`` are there where attempts were read, as in :class:`LevelRow`.
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

    @property
    def planned(self) -> int:
        """Levels of the run, unfinished ones included."""
        return len(self.levels)

    @property
    def finished(self) -> int:
        return sum(row.outcome in ("success", "fail") for row in self.levels)

    @property
    def solved(self) -> int:
        return sum(row.outcome == "success" for row in self.levels)


@dataclass(frozen=True, slots=True)
class Report:
    """What a page shows first; everything else it loads piece by piece.

    ``made`` is seconds since the epoch; ``view`` is the address within the page that it opens with, "" for the
    overview. ``primitives`` are the names of the agent's primitives; ``running``: a run is under way.
    """

    title: str
    program: str
    made: float
    runs: tuple[Run, ...]
    tiles: Tiles
    primitives: tuple[str, ...]
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
    """A call of a model. Texts are ids; ``answer`` is "" where none came, ``pddl`` and ``code`` are what is in it:
    a planner's domain and problem, its problem writer or a coder's methods. ``error`` is what the solver, the
    validator, the merge or the provider said, ``objection`` what a coder that sent the plan back has against it."""

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
    """Two texts, given by id, of which the page shows the difference."""

    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Blame:
    """The line of generated code where an attempt ended, and why that one.

    ``line`` counts from 1 in the text ``agent``, 0 where no line is to blame; ``last`` is the end of its method.
    ``position`` is the step of the plan, from 0, that was being carried out; None without a plan. ``written`` tells who
    wrote the method of the line, None where no line is to blame.
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
    """Whether a re-simulation matches its recording: ``equal``, ``different``, ``unrecorded`` or "" (none), and why."""

    result: str
    message: str


@dataclass(frozen=True, slots=True)
class Action:
    """A step of a plan."""

    name: str
    args: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """An execution of a plan. ``agent`` is the text that ran, ``file`` its file's name as recorded, "" where unknown;
    ``steps`` is [primitive, plan position, source line] per primitive, plan positions from 0, lines from 1; ``before``
    counts the primitives executed before it."""

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
    episode: GridFilm | None
    check: Check
    file: str = ""


@dataclass(frozen=True, slots=True)
class Try:
    """One turn of CODE and ACT: the calls of the coder, what they changed, and the attempt that followed, if any."""

    calls: tuple[Call, ...]
    diff: Diff | None
    attempt: Attempt | None


@dataclass(frozen=True, slots=True)
class Round:
    """One sense-plan-code-act round. Without a plan ``domain`` and ``problem`` are ""; diffs are to the plan before.

    Number 0 is a plan of a stored writer, the last of ``writers``; those before it made none.
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
    """Everything about a level. ``texts`` holds the texts it alone uses; the others are in the run's own piece.

    ``blame`` is that of the last attempt of a level that was not solved, whatever came after it; None where nothing
    ran. ``offer`` is the problem writer that came with its plan.
    """

    number: int
    mission: str
    outcome: str
    reason: str
    blame: Blame | None
    rounds: tuple[Round, ...]
    texts: Mapping[str, Text]
    offer: OfferedWriter | None = None
