"""``release``: make the released sets again."""

from __future__ import annotations

from pathlib import Path

import explorer.released
from explorer.cli.options import ReleaseOptions
from explorer.generating.releasing import RECIPES, make_files
from spca.common.command import EXIT_FAILED, EXIT_FINISHED
from spca.common.files import write_atomic
from spca.common.jobs.progress import show_bar
from spca.common.text import one_line


def release_sets(options: ReleaseOptions = ReleaseOptions()) -> int:
    """Write the released sets, or compare new sets with the existing files; return 1 if any file differs, else 0.

    Raises:
        GenerationError: a scene cannot be made.
    """
    folder = options.output or Path(explorer.released.__file__).parent
    total = sum(recipe.count for recipe in RECIPES.values())
    finished = 0
    different: list[str] = []
    with show_bar(options.quiet, "scenes", "certified") as update_bar:

        def on_scene() -> None:
            nonlocal finished
            finished += 1
            update_bar(finished, total, finished)

        for name, content in make_files(on_scene):
            path = folder / name
            if not options.check:
                folder.mkdir(parents=True, exist_ok=True)
                write_atomic(path, content)
            elif not path.is_file() or path.read_bytes() != content:
                different.append(name)

    if different:
        print(one_line(f"{folder}: different: {', '.join(different)}"))
        return EXIT_FAILED
    outcome = "the same" if options.check else "written"
    print(one_line(f"{folder}: {total} scenes in {len(RECIPES)} sets, {outcome}"))
    return EXIT_FINISHED
