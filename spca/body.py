"""The body of an agent: what models, generated code and the host must know about a kind of world.

A run has one body. The loop, the coder, the sandbox and the reports take the body as a value, so that they serve any
world. :mod:`spca.bodies.grid` is the body of MiniGrid; a plugin brings the body of another world.
"""

from __future__ import annotations

import json
import keyword
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Protocol

from spca.contracts import LevelInfo, PlanStep, Snapshot

if TYPE_CHECKING:  # the sandbox's workers load this module, so it imports little
    from importlib.resources.abc import Traversable
    from pathlib import Path

MAX_PRIMITIVES: Final = 256
"""Largest number of primitives; the code of a primitive is one byte on the way from the sandbox to the host."""

MISSION: Final = "mission"
PREVIOUS_ACTIONS: Final = "previous_actions"
"""State attributes of every body: the task in words, and the codes of all primitives since the reset."""


class StateKind(StrEnum):
    """What generated code finds in a state attribute.

    WORDS: a numpy array of words; it travels as an array of indices into :attr:`Body.words`. NUMBERS: a numpy array of
    numbers. VALUE: None, a bool, a number, a text, or a tuple or dict of such values. Generated code can change none of
    them.
    """

    WORDS = "words"
    NUMBERS = "numbers"
    VALUE = "value"


@dataclass(frozen=True, slots=True)
class Primitive:
    """One thing that an agent can do in a step: the name of the agent's method, and the method's docstring."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class StateAttribute:
    """An attribute of the agent that generated code reads.

    Attributes:
        kind: what the attribute holds.
        doc: what the value means, for prompts and for the initial agent.
        is_progress: whether a new value means that the agent gets on. Hunger and daylight change by themselves, so
            they are no progress.
    """

    name: str
    kind: StateKind
    doc: str
    is_progress: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", StateKind(self.kind))  # "words" will do


@dataclass(frozen=True, slots=True)
class AgentInterface:
    """The names that a body gives to generated code; plain data, which the sandbox's worker gets too.

    Attributes:
        primitives: names of the primitives; the index is the code of the primitive.
        attributes: (name, kind) of each state attribute whose value the world sends; the mission is the first.
    """

    primitives: tuple[str, ...]
    attributes: tuple[tuple[str, str], ...]

    @property
    def state_names(self) -> tuple[str, ...]:
        """Names of all state attributes, which generated code must not assign."""
        return (*(name for name, _kind in self.attributes), PREVIOUS_ACTIONS)

    @property
    def array_names(self) -> tuple[str, ...]:
        """Names of the state attributes that have methods to change them in place."""
        arrays = [name for name, kind in self.attributes if kind != StateKind.VALUE]
        return (*arrays, PREVIOUS_ACTIONS)

    @property
    def reserved_names(self) -> frozenset[str]:
        """Names that no action of a plan may have."""
        return frozenset((*self.primitives, *self.state_names))


NO_INTERFACE: Final = AgentInterface((), ())
"""The interface of code that is no agent, such as a problem writer."""


@dataclass(frozen=True, slots=True)
class Budgets:
    """What one plan may use.

    Attributes:
        cpu_seconds: processor time of generated code.
        wall_seconds: time that the world waits for generated code.
        patience: number of successive primitives without progress after which an attempt is stuck.
        repeats: how often in a row a cycle of states must be seen before an attempt is stuck. 0 switches this rule off,
            for worlds where chance decides what a primitive does.

    Raises:
        ValueError: a number is out of range.
    """

    cpu_seconds: int = 10
    wall_seconds: float = 60.0
    patience: int = 60
    repeats: int = 3

    def __post_init__(self) -> None:
        for name in ("cpu_seconds", "patience", "repeats"):
            if type(getattr(self, name)) is not int:
                raise ValueError(f"budgets: {name} must be a whole number")
        for name in ("cpu_seconds", "wall_seconds", "patience"):
            if not getattr(self, name) > 0:
                raise ValueError(f"budgets: {name} must be more than 0")
        if self.repeats < 0 or self.repeats == 1:
            raise ValueError("budgets: repeats must be 0 or at least 2")


class NamingRules(Protocol):
    """The rules for names of objects in plans; a body without rules accepts every name."""

    def list_shown_words(self, snapshot: Snapshot, level: LevelInfo) -> frozenset[str]:
        """Return every word that the planner is shown, in lower case."""
        ...

    def find_name_faults(self, step: PlanStep, shown: frozenset[str], rename: Renamer) -> Iterator[tuple[str, str]]:
        """Yield (name, fault with advice) for each argument of a step whose name is not valid.

        Args:
            shown: the words that the planner is shown.
            rename: renames the words of the advice.
        """
        ...

    def find_wrong_argument(self, passed: Mapping[str, str]) -> tuple[str, str] | None:
        """Return (parameter, argument) of an object of the wrong kind; None if all arguments may be right.

        Args:
            passed: the argument for each parameter of a method.
        """
        ...

    def find_object_words(self, mission: str, names: Sequence[str]) -> dict[str, str]:
        """Return, for each name of an object, the phrase in the mission that means this object."""
        ...


class Renamer(Protocol):
    """Function that replaces words of a text by other words."""

    def __call__(self, text: str, /) -> str: ...


class AnyNames:
    """Naming rules that accept every name."""

    def list_shown_words(self, snapshot: Snapshot, level: LevelInfo) -> frozenset[str]:  # noqa: ARG002
        return frozenset()

    def find_name_faults(
        self,
        step: PlanStep,  # noqa: ARG002
        shown: frozenset[str],  # noqa: ARG002
        rename: Renamer,  # noqa: ARG002
    ) -> Iterator[tuple[str, str]]:
        return iter(())

    def find_wrong_argument(self, passed: Mapping[str, str]) -> tuple[str, str] | None:  # noqa: ARG002
        return None

    def find_object_words(self, mission: str, names: Sequence[str]) -> dict[str, str]:
        """Return the words of each name whose words the mission contains, in the mission's own spelling."""
        found: dict[str, str] = {}
        for name in dict.fromkeys(names):
            words = r"\s+".join(map(re.escape, name.split("_")))
            match = re.search(rf"(?<!\w){words}(?!\w)", mission, re.IGNORECASE)
            if match:
                found[name] = match[0]
        return found


class PromptParts(Mapping[str, str]):
    """Parts of prompts that are read from files when they are first needed.

    Args:
        read: returns the text of each part by name.
    """

    def __init__(self, read: Callable[[], dict[str, str]]) -> None:
        self._read = read

    @classmethod
    def from_files(cls, folder: Path | Traversable) -> PromptParts:
        """Return the parts in the files ``NAME.jinja`` of a folder, such as ``Path(__file__).parent / "prompts"``."""

        def read() -> dict[str, str]:
            files = sorted(folder.iterdir(), key=lambda file: file.name)
            named = [file for file in files if file.name.endswith(".jinja")]
            return {file.name.removesuffix(".jinja"): file.read_text(encoding="utf-8") for file in named}

        return cls(read)

    @cached_property
    def _texts(self) -> dict[str, str]:
        return self._read()

    def __getitem__(self, name: str) -> str:
        return self._texts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)


class Drawing(Protocol):
    """How people and models are shown what a world shows."""

    def draw_rows(self, shown: Mapping[str, Any]) -> list[str]:
        """Return rows of text for a terminal or a report."""
        ...

    def describe_end(self, shown: Mapping[str, Any]) -> list[str]:
        """Return the lines of a report on the state at the end of an attempt, with a heading."""
        ...


class PlainDrawing:
    """Drawing of a world without a picture: its values as JSON, and the rows of its ``map`` if it has one."""

    def draw_rows(self, shown: Mapping[str, Any]) -> list[str]:
        rows = [str(row) for row in shown.get("map", ())]
        lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in shown.items() if name != "map"]
        return [*lines, *rows]

    def describe_end(self, shown: Mapping[str, Any]) -> list[str]:
        return ["shown at the end:", *self.draw_rows(shown)]


@dataclass(frozen=True, slots=True, eq=False)
class WordGroups:
    """The words of a body that a renaming may exchange.

    Attributes:
        renamed: words that ``--rename-words`` replaces by invented words.
        alike: words of which any can take the place of any other, such as the colours of things.
        alike_title: what these words are, for messages, such as "colours".
        swapped: kinds that the rules treat alike, each with the kind that takes its place; plurals are listed too.
        swapped_title: the exchange in words, such as "boxes instead of balls, or of balls instead".
        redraw: brings the drawn parts of a state up to date after ``swapped`` was applied to its texts.
        mention: subject and verb of the clause that says where the words stand, for messages.
    """

    renamed: tuple[str, ...]
    alike: Sequence[str] = ()
    alike_title: str = "words"
    swapped: Mapping[str, str] = field(default_factory=dict)
    swapped_title: str = "the kinds that take each other's place"
    redraw: Callable[[dict[str, Any]], None] = lambda _state: None
    mention: str = "the snapshot speaks"


@dataclass(frozen=True, eq=False)
class Body:
    """Everything about a kind of world that is not the loop's own.

    Attributes:
        name: a lower-case identifier.
        primitives: what an agent can do in a step; the index is the code of the primitive.
        state: attributes of the agent, besides the mission and the previous primitives.
        words: words of the arrays of words; an array holds indices into this tuple. A world may show other words.
        prompts: part of a prompt -> its text as a Jinja template. Parts that are left out have plain defaults, which
            are made from ``primitives`` and ``state``; see ``docs/prompts.md``.
        budgets: what one plan may use.
        progress: words for what counts as a new state, such as "pose, map, inventory"; "" for no such words.
        vocabulary: words that renamings exchange; None if the body's words cannot be renamed.
        names: rules for names of objects.
        drawing: how people and models are shown what the world shows.
        about: rules of the world in a few sentences, which the plain parts of prompts give to planner and coder.
        agent_file: name of the project's file with the initial agent; "" to make it from ``primitives`` and ``state``.

    Raises:
        ValueError: a name is no identifier or is used twice, or there are too many primitives.
    """

    name: str
    primitives: tuple[Primitive, ...]
    state: tuple[StateAttribute, ...]
    words: tuple[str, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=dict)
    budgets: Budgets = Budgets()
    progress: str = ""
    vocabulary: WordGroups | None = None
    names: NamingRules = field(default_factory=AnyNames)
    drawing: Drawing = field(default_factory=PlainDrawing)
    about: str = ""
    agent_file: str = ""

    def __post_init__(self) -> None:
        names = [*(each.name for each in self.primitives), *self.interface.state_names]
        for name in (self.name, *names):
            is_name = name.isidentifier() and name.isascii() and not keyword.iskeyword(name)
            if not is_name or name.startswith("_"):
                raise ValueError(f"body {self.name!r}: {name!r} is no identifier of ASCII letters, digits and _")
        repeated = next((name for name in names if names.count(name) > 1), None)
        if repeated is not None:
            raise ValueError(f"body {self.name!r}: the name {repeated!r} is used twice")
        if not 0 < len(self.primitives) <= MAX_PRIMITIVES:
            raise ValueError(f"body {self.name!r}: there must be 1 to {MAX_PRIMITIVES} primitives")

    @cached_property
    def interface(self) -> AgentInterface:
        """The names that the body gives to generated code."""
        attributes = [(each.name, each.kind.value) for each in self.state]
        primitives = tuple(each.name for each in self.primitives)
        return AgentInterface(primitives, ((MISSION, StateKind.VALUE.value), *attributes))

    @property
    def described_progress(self) -> str:
        """What counts as a new state, in words: ``progress``, else the names of the attributes that count."""
        return self.progress or ", ".join(each.name for each in self.state if each.is_progress)


def render_agent(body: Body) -> str:
    """Return the source of an agent that has the primitives and the state of a body, and has learned nothing."""
    annotations = {StateKind.WORDS: "np.ndarray", StateKind.NUMBERS: "np.ndarray", StateKind.VALUE: "object"}
    state = [
        StateAttribute(MISSION, StateKind.VALUE, "what is to be done, in words."),
        *body.state,
        StateAttribute(PREVIOUS_ACTIONS, StateKind.VALUE, "codes of all primitives executed so far."),
    ]
    described = [f"        {each.name}: {_one_line(each.doc)}" for each in state]
    declared = [f"    {each.name}: {annotations[each.kind]}" for each in state]
    lines = [
        '"""The agent: primitives and state; the actions that a run learns follow below them."""',
        "",
        "import numpy as np",
        "",
        "",
        "class Agent:",
        f'    """An agent of the body {body.name}.',
        "",
        "    State, kept by the world and read-only here:",
        *described,
        '    """',
        "",
        *declared,
    ]
    for code, primitive in enumerate(body.primitives):
        method = [f"    def {primitive.name}(self) -> int:", f'        """{_one_line(primitive.doc)}"""']
        lines += ["", *method, f"        return {code}"]
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    """Return a text as one line that can stand in a docstring."""
    line = " ".join(text.split()).replace("\\", "/").replace('"""', "'''")
    return f"{line} " if line.endswith('"') else line
