"""Scenes and their proofs against second opinions, planted faults, adversarial traces, and agents.

``scripts/soak explorer [--count N] [--only GATE,...] [--seed S] [--jobs N] [--record]``: N generated scenes (default
1,000), each judged by a naive closure and attacked by a body for 200,000 ticks; nearly half as many of 2 hops
searched exhaustively, those of at most 800 states to the end; every kind of fault in a twentieth as many; 50
adversarial traces on a fifth as many; a random agent and the solver on six tenths; N twins of fresh scenes, which
differ in what nobody has seen (``--only twins --count 1500``). Goes on with what was interrupted unless the code has
changed; ``--afresh`` starts again.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from explorer.findings import FaultKind
from explorer.generating.knobs import MAX_HOPS
from tests.soak.common import resumable
from tests.soak.explorer_gates import GATES
from tests.soak.journal import Figures, Found, Slice, Soak, slices

_SLICES = {
    "scenes": (1.0, 5),
    "small": (0.45, 10),
    "faults": (0.05, 2),
    "traces": (0.2, 4),
    "agents": (0.6, 12),
    "twins": (1.0, 16),
}
"""Of every gate: its share of the count, and how many scenes a slice has."""
_ENOUGH = 1000
"""A count of scenes that has to be as mixed as the whole is meant to be."""
_LEAST_OF_A_HOP_COUNT, _LEAST_BRANCHED, _LEAST_TASKS, _MOST_OF_A_GADGET = 100, 150, 150, 0.4
_MOST_BY_CHANCE = 0.05
"""Episodes of two hops or more that a random agent may win."""


def done(piece: Slice) -> Figures:
    """The figures of a slice, with how many seconds they took."""
    began = time.perf_counter()
    gate, *what = piece
    return GATES[gate](*what) | {"seconds": time.perf_counter() - began}


def table(work: Sequence[Slice], found: Found) -> tuple[str, list[str]]:
    """The figures of every gate as Markdown, and everything that was wrong."""
    lines = ["| gate | items | wrong | seconds | of them |", "|---" * 5 + "|"]
    wrong = list[str]()
    for gate in dict.fromkeys(piece.gate for piece in work):
        figures = [found[piece] for piece in work if piece.gate == gate]
        bad = [line for f in figures for line in f["wrong"]] + list(missed(gate, figures))
        wrong += bad
        seconds, items = (sum(f[name] for f in figures) for name in ("seconds", "count"))
        lines.append(f"| {gate} | {items:,} | {len(bad)} | {seconds:.0f} | {details(gate, figures)} |")
    return "\n".join(lines), wrong


def details(gate: str, figures: Sequence[Figures]) -> str:
    """What else there is to tell of a gate."""
    shown = [name for name, value in figures[0].items() if name != "count" and isinstance(value, int)]
    text = [f"{sum(f[name] for f in figures):,} {name.replace('_', ' ')}" for name in shown]
    if gate == "scenes":
        hops, gadgets = _hops(figures), _gadgets(figures)
        text.append("hops " + ", ".join(f"{each}: {hops[each]}" for each in sorted(hops)))
        text.append(f"{len(_tasks(figures))} atomic tasks")
        name, most = gadgets.most_common(1)[0]
        text.append(f"the commonest gadget, {name}, in {most / hops.total():.1%}")
    if gate == "faults":
        text.append(f"{len(FaultKind)} kinds")
    if gate == "twins":
        kinds = Counter(kind for f in figures for kind in f["kinds"])
        text.append(", ".join(f"{kind}: {kinds[kind]}" for kind in sorted(kinds)))
    if gate == "agents":
        text += [f"{name}: {_rates(figures, name)}" for name in ("random", "solver")]
    return "; ".join(text)


def missed(gate: str, figures: Sequence[Figures]) -> Iterator[str]:
    """Yield what the whole set should have been and was not."""
    count = sum(f["count"] for f in figures)
    if gate == "agents":
        for (name, hops), rate in _solved(figures).items():
            if name == "solver" and rate < 1:
                yield f"the solver wins {rate:.1%} of the episodes of {hops} hops"
            if name == "random" and hops > 1 and rate > _MOST_BY_CHANCE:
                yield f"a random agent wins {rate:.1%} of the episodes of {hops} hops"
    if gate == "small" and count >= 0.4 * _ENOUGH and (complete := sum(f["complete"] for f in figures)) < _ENOUGH / 5:
        yield f"small: only {complete} were searched to the end"
    if gate == "scenes" and count >= _ENOUGH:
        made, gadgets = _hops(figures), _gadgets(figures)
        few = [each for each in range(1, MAX_HOPS + 1) if made[each] < _LEAST_OF_A_HOP_COUNT]
        yield from (f"scenes: only {made[each]} of {each} hops" for each in few)
        if (branched := sum(f["branched"] for f in figures)) < _LEAST_BRANCHED:
            yield f"scenes: only {branched} with branches"
        if len(_tasks(figures)) < _LEAST_TASKS:
            yield f"scenes: only {len(_tasks(figures))} atomic tasks"
        yield from (f"scenes: {g} in {n}" for g, n in gadgets.items() if n > _MOST_OF_A_GADGET * count)


def _hops(figures: Iterable[Figures]) -> Counter[int]:
    return Counter(hops for f in figures for hops in f["hops"])


def _gadgets(figures: Iterable[Figures]) -> Counter[str]:
    return Counter(gadget for f in figures for of_scene in f["gadgets"] for gadget in of_scene)


def _tasks(figures: Iterable[Figures]) -> set[str]:
    return {task for f in figures for task in f["tasks"]}


def _solved(figures: Iterable[Figures]) -> dict[tuple[str, int], float]:
    all_, won = Counter[tuple[str, int]](), Counter[tuple[str, int]]()
    for f in figures:
        for name, hops, solved, _ in f["episodes"]:
            all_[name, hops] += 1
            won[name, hops] += solved
    return {key: won[key] / count for key, count in sorted(all_.items())}


def _rates(figures: Iterable[Figures], name: str) -> str:
    return ", ".join(f"{hops} hops {rate:.1%}" for (who, hops), rate in _solved(figures).items() if who == name)


SOAK = Soak(
    name="explorer",
    title="Explorer",
    parts=tuple(GATES),
    unit="slices",
    sources=("explorer/**/*.py", "explorer/**/*.json", "tests/support/explorer/**/*.py", "tests/soak/explorer*.py"),
    do=done,
    table=table,
)


def main() -> int:
    """Run the gates; 1 when something is wrong."""
    parser = SOAK.parser(__doc__)
    parser.add_argument("--count", type=int, default=1000, help="generated scenes")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    return SOAK.run(list(slices(_SLICES, options.only, options.seed, options.count)), options)


if __name__ == "__main__":
    sys.exit(resumable(main))
