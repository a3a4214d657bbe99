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
"""Settings that are compared under another name, or that name only places or the display of a run."""
_ABLATING: Final = {name: (flag, value) for flag, (name, value) in ABLATIONS.items()}
"""Flag of an ablation, and the value that the flag gives to the setting, by name of the setting."""
_EDITED: Final = {True: "some", False: "none", None: None}
_EXPLAINED: Final = {
    "product": "source files that decide behaviour",
    "prompts": "templates",
    "curriculum": "levels",
}


@dataclass(frozen=True, slots=True)
class _Aspect:
    """An aspect that is compared, such as the commit, with its values in the two runs as text.

    Attributes:
        a, b: values in run A and in run B; None if the run does not record a value.
        note: explanation of the name.
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
    """Return lines about the differences, the unknown aspects and the continuations of two runs.

    If more than one aspect differs, the first line is a heading and a line for each aspect follows.
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
    """Yield all compared aspects in the order of the report."""
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
    """Yield lines with the names of the aspects that A, B or both do not record."""
    unknown = {"A": list[str](), "B": list[str](), "both": list[str]()}
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
    """Return the flags of run A, and the flags of run B, for all settings that differ; None if no setting is shared.

    A setting that only one run records is not compared.
    """
    names = sorted((a.keys() & b.keys()) - _NO_FLAGS)
    if not names:
        return None, None
    differing = [name for name in names if a[name] != b[name]]
    return _join_flags(a, differing), _join_flags(b, differing)


def _join_flags(settings: Mapping[str, Any], names: list[str]) -> str:
    """Return the flags of the settings ``names``; "none" if the settings have no flags."""
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

    An empty mapping means that the run does not record the entries. The text of this run is None, and the text of the
    other run has all entries.
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
