"""``generate``: make proven tasks of every tier, as files."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from cyclopts import Parameter

from gridworld.evaluation.options import SEED, Limit, Tiling, describe, parse_tiers
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import track_items
from spca.common.options.values import text_option, whole_number
from spca.common.text import counted, one_line


def generate_tasks(
    *,
    tier: Annotated[tuple[int, ...] | None, text_option(parse_tiers), describe("TIERS", "1 to 5: 3, 1-5, 2,4 or all")],
    count: Annotated[int, whole_number(1), describe("N", "tasks of each tier (default 1)")] = 1,
    seed: Annotated[int, SEED, describe("S", "another seed makes other tasks (default 0)")] = 0,
    output: Annotated[str, describe("DIR", "folder of the files; what is there of them already is kept")],
    tiling: Annotated[Tiling, describe("NAME", "default square")] = "square",
    mechanisms: Annotated[
        str | None, describe("KINDS", "only these, such as keys,doors (default: all of the tier)")
    ] = None,
    limit: Annotated[Limit, Parameter(help="states that one search may expand (default 1000)")] = None,
    overwrite: Annotated[bool, Parameter(help="replace files that hold something else")] = False,
) -> int:
    """Make tasks.

    Raises:
        GenerationError: there are no such tasks, or a file is in the way.
    """
    from gridworld.generating.generator import SEARCH_LIMIT, write_many
    from gridworld.generating.recipes import TIERS

    tiers = tier or tuple(TIERS)
    kinds = None if mechanisms is None else [each for each in mechanisms.split(",") if each]
    made = (
        written
        for number in tiers
        for written in write_many(
            number,
            count,
            seed,
            output,
            tiling=tiling,
            mechanisms=kinds,
            limit=limit or SEARCH_LIMIT,
            overwrite=overwrite,
        )
    )
    done: Counter[str] = Counter()
    try:
        for written in track_items(made, count * len(tiers), "tasks"):
            done[written.what] += 1
    except KeyboardInterrupt:
        complain(f"interrupted; {counted(done.total(), 'task')} in {output}; the same command goes on")
        return EXIT_INTERRUPTED
    how = ", ".join(f"{number} {what}" for what, number in done.items())
    print(one_line(f"{counted(done.total(), 'task')} in {output}: {how}"))
    return EXIT_FINISHED
