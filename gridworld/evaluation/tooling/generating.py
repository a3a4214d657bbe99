"""``generate``: make proven tasks of every tier, as files."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence

from gridworld.evaluation.models.registry import add_limit, count
from gridworld.evaluation.running.settings import parse_tiers
from gridworld.evaluation.tooling.common import tool_parser
from gridworld.generating.generator import SEARCH_LIMIT
from gridworld.rules.tilings import TILINGS
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import track_items
from spca.common.text import counted, one_line


def build_parser() -> argparse.ArgumentParser:
    """The parser of the tool."""
    parser = tool_parser(
        "generate",
        "Make tasks; each carries a certificate: solvable, its optimal length, every link of its chain necessary.\n"
        "The same arguments make the same tasks on every machine.",
        ["--tier 3 --count 20 --seed 7 --out my_tasks", "--tier 1-5 --count 10 --out hexagons --tiling hex"],
        "130 interrupted",
    )
    add = parser.add_argument
    add("--tier", type=parse_tiers, required=True, metavar="TIERS", help="1 to 5: 3, 1-5, 2,4 or all")
    add("--count", type=count, default=1, metavar="N", help="tasks of each tier (default 1)")
    add("--seed", type=int, default=0, metavar="S", help="another seed makes other tasks (default 0)")
    add("--out", required=True, metavar="DIR", help="folder of the files; what is there of them already is kept")
    add("--tiling", choices=tuple(TILINGS), default="square", help="default %(default)s")
    add("--mechanisms", metavar="KINDS", help="only these, such as keys,doors (default: all that the tier is about)")
    add_limit(parser, SEARCH_LIMIT)
    add("--overwrite", action="store_true", help="replace files that hold something else")
    return parser


def run(argv: Sequence[str]) -> int:
    """Make tasks.

    Raises:
        GenerationError: there are no such tasks, or a file is in the way.
    """
    from gridworld.generating.generator import write_many
    from gridworld.generating.recipes import TIERS

    arguments = build_parser().parse_args(argv)
    tiers = arguments.tier or tuple(TIERS)
    kinds = None if arguments.mechanisms is None else [each for each in arguments.mechanisms.split(",") if each]
    made = (
        written
        for tier in tiers
        for written in write_many(
            tier,
            arguments.count,
            arguments.seed,
            arguments.out,
            tiling=arguments.tiling,
            mechanisms=kinds,
            limit=arguments.limit,
            overwrite=arguments.overwrite,
        )
    )
    done: Counter[str] = Counter()
    try:
        for written in track_items(made, arguments.count * len(tiers), "tasks"):
            done[written.what] += 1
    except KeyboardInterrupt:
        complain(f"interrupted; {counted(done.total(), 'task')} in {arguments.out}; the same command goes on")
        return EXIT_INTERRUPTED
    how = ", ".join(f"{number} {what}" for what, number in done.items())
    print(one_line(f"{counted(done.total(), 'task')} in {arguments.out}: {how}"))
    return EXIT_FINISHED
