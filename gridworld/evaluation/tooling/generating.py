"""``generate``: write files of new tasks that are proven to be solvable."""

from __future__ import annotations

from collections import Counter
from typing import Annotated

from gridworld.evaluation.options import SEED, Tiling, parse_tiers
from spca.common.command import EXIT_FINISHED, EXIT_INTERRUPTED, complain
from spca.common.jobs.progress import track_items
from spca.common.options.values import FOLDER, NAME, name_value, text_option, whole_number
from spca.common.text import format_count, one_line


def generate_tasks(
    *,
    tier: Annotated[tuple[int, ...] | None, text_option(parse_tiers, "TIERS")],
    count: Annotated[int, whole_number(1)] = 1,
    seed: Annotated[int, SEED, name_value("S")] = 0,
    output: Annotated[str, FOLDER],
    tiling: Annotated[Tiling, NAME] = "square",
    mechanisms: Annotated[str | None, name_value("KINDS")] = None,
    limit: Annotated[int | None, whole_number(1)] = None,
    overwrite: bool = False,
) -> int:
    """Generate tasks and write their files; return the exit code.

    Args:
        tier: 1 to 5: 3, 1-5, 2,4 or all
        count: tasks of each tier (default 1)
        seed: another seed makes other tasks (default 0)
        output: folder of the files; what is there of them already is kept
        tiling: default square
        mechanisms: only these, such as keys,doors (default: all of the tier)
        limit: states that one search may expand (default 1000)
        overwrite: replace files that hold something else

    Raises:
        GenerationError: no tasks of this kind can be made, or a file with other content exists.
    """
    from gridworld.generating.generator import SEARCH_LIMIT, write_many
    from gridworld.generating.recipes import TIERS

    tiers = tier or tuple(TIERS)
    kinds = None if mechanisms is None else [each for each in mechanisms.split(",") if each]
    # Each task is generated and written when the loop below asks for the next item.
    all_written = (
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
    counts: Counter[str] = Counter()  # files by what was done, such as written or kept
    try:
        for written in track_items(all_written, count * len(tiers), "tasks"):
            counts[written.what] += 1
    except KeyboardInterrupt:
        complain(f"interrupted; {format_count(counts.total(), 'task')} in {output}; the same command goes on")
        return EXIT_INTERRUPTED
    how = ", ".join(f"{number} {what}" for what, number in counts.items())
    tasks = format_count(counts.total(), "task")
    print(one_line(f"{tasks} in {output}: {how}"))
    return EXIT_FINISHED
