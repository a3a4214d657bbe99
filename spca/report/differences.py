"""Differences between two runs before their first step: source, models, seed, flags and versions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from spca.report.read.model import Run
from spca.report.read.origin import HASHED, shorten_hash
from spca.runs.settings import ABLATIONS, OF_THIS_SESSION

_MODELS: Final = ("planner_model", "planner_small_model", "coder_model")
_PLACES: Final = ("curriculum", "workspace", "runs", "resume", "model_table")
_NO_FLAGS: Final = frozenset({*_MODELS, *_PLACES, *OF_THIS_SESSION, "seed"})
"""Settings that are not compared as flags: models and seed, which are compared separately, names of places, and
settings of one session.
"""
_ABLATING: Final = {name: (flag, value) for flag, (name, value) in ABLATIONS.items()}
"""Pairs (flag of an ablation, value that the flag gives to the setting), by name of the setting."""
_EDITED: Final = {True: "some", False: "none", None: None}
_EXPLAINED: Final = {
    "product": "source files that decide behaviour",
    "prompts": "templates",
    "curriculum": "levels",
}


@dataclass(frozen=True, slots=True)
class _Aspect:
    """An aspect in which two runs are compared, such as the commit, with the value of each run as text.

    Attributes:
        a, b: values in run A and in run B; None if the run does not record a value.
        note: explanation of the name; "" for no explanation.
    """

    name: str
    a: str | None
    b: str | None
    note: str = ""

    @property
    def is_known(self) -> bool:
        """Whether both runs record a value."""
        return self.a is not None and self.b is not None

    def describe(self) -> str:
        """Return the name, the note and the values of both runs in words."""
        note = f" ({self.note})" if self.note else ""
        return f"{self.name}{note}: {self.a} in A, {self.b} in B"


def describe_differences(a: Run, b: Run) -> tuple[str, ...]:
    """Return lines about the aspects that differ between two runs, the unrecorded aspects, and the continuations of the
    runs.

    If several aspects differ, the first line is a heading, and a line for each of these aspects follows.
    """
    aspects = tuple(_aspects(a, b))
    differing = [aspect for aspect in aspects if aspect.is_known and aspect.a != aspect.b]
    unknown = [aspect for aspect in aspects if not aspect.is_known]
    equal = [aspect.name for aspect in aspects if aspect.is_known and aspect.a == aspect.b]
    nothing = "of what is known, nothing differs" if unknown else "nothing differs"
    if not differing:
        lines = [f"{nothing}: the same {_join(equal)}" if equal else "nothing is known of what differs"]
    elif len(differing) == 1:
        lines = [f"{nothing} but the {differing[0].describe()}"]
    else:
        lines = [f"these differ: {_join([aspect.name for aspect in differing])}"]
        lines += [aspect.describe() for aspect in differing]
    lines += _describe_unknown(unknown)
    for mark, run in (("A", a), ("B", b)):
        lines += [f"{mark}: {line}" for line in run.continuations]
    return tuple(lines)


def _aspects(a: Run, b: Run) -> Iterator[_Aspect]:
    """Yield all aspects in which the runs are compared, in the order of the report."""
    yield _Aspect("commit", _format_hash(a.git_commit), _format_hash(b.git_commit))
    yield _Aspect("edited files", _EDITED[a.git_dirty], _EDITED[b.git_dirty], "since the commit")
    for name in HASHED:
        in_a = _format_hash(a.hashes.get(name))
        in_b = _format_hash(b.hashes.get(name))
        yield _Aspect(name, in_a, in_b, _EXPLAINED[name])
    yield _Aspect("models", *_describe_entries(a.models, b.models))
    seed_note = "other worlds" if a.seed != b.seed else ""
    yield _Aspect("seed", _format_known(a.seed), _format_known(b.seed), seed_note)
    flags = _describe_flags(a.settings, b.settings)
    all_flags = " ".join(filter(None, flags))
    flags_note = "other rules" if "--upstream-rules" in all_flags else ""
    yield _Aspect("flags", *flags, flags_note)
    yield _Aspect("versions", *_describe_entries(a.versions, b.versions))


def _describe_unknown(aspects: list[_Aspect]) -> Iterator[str]:
    """Yield up to three lines of names: the aspects that only A, only B, and both runs leave unrecorded."""
    unknown: dict[str, list[str]] = {"A": [], "B": [], "both": []}
    for aspect in aspects:
        if aspect.a is None and aspect.b is None:
            unknown["both"].append(aspect.name)
        elif aspect.a is None:
            unknown["A"].append(aspect.name)
        else:
            unknown["B"].append(aspect.name)
    for runs, names in unknown.items():
        if names:
            yield f"unknown of {runs}: {_join(names)}"


def _describe_flags(a: Mapping[str, Any], b: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return two texts: the flags of run A, and the flags of run B, for the settings whose values differ.

    A setting is compared only if both runs record it. If no setting can be compared, both texts are None.
    """
    names = sorted((a.keys() & b.keys()) - _NO_FLAGS)
    if not names:
        return None, None
    differing = [name for name in names if a[name] != b[name]]
    return _join_flags(a, differing), _join_flags(b, differing)


def _join_flags(settings: Mapping[str, Any], names: list[str]) -> str:
    """Return the flags that give the settings ``names`` their values; "none" if no value needs a flag."""
    flags = [_write_flag(name, settings[name]) for name in names]
    return " ".join(filter(None, flags)) or "none"


def _write_flag(name: str, value: object) -> str:
    """Return the flag that gives a setting this value; "" if the value needs no flag."""
    if name in _ABLATING:
        flag, value_by_flag = _ABLATING[name]
        return flag if value is value_by_flag else ""
    flag = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return flag if value else ""
    return "" if value is None else f"{flag} {value}"


def _describe_entries(a: Mapping[str, str], b: Mapping[str, str]) -> tuple[str | None, str | None]:
    """Return two texts: the entries of A, and the entries of B, whose values differ.

    An empty mapping means that its run does not record the entries. In this case the run's text is None, and the other
    text has all entries.
    """
    names = sorted(a.keys() | b.keys())
    if a and b:
        names = [name for name in names if a.get(name) != b.get(name)]
    return _join_entries(a, names), _join_entries(b, names)


def _join_entries(entries: Mapping[str, str], names: list[str]) -> str | None:
    """Return the entries ``names`` as text; None if ``entries`` is empty."""
    if not entries:
        return None
    texts = []
    for name in names:
        label = name.replace("_", " ")
        texts.append(f"{label} {entries.get(name, 'missing')}")
    return ", ".join(texts)


def _format_known(value: object) -> str | None:
    return None if value is None else str(value)


def _format_hash(value: str | None) -> str | None:
    return None if value is None else shorten_hash(value)


def _join(names: list[str]) -> str:
    """Return names in a sentence, such as "a, b and c"; ``names`` must not be empty."""
    *first_names, last = names
    if not first_names:
        return last
    return f"{', '.join(first_names)} and {last}"
