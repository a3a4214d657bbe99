"""Find the scene that a command line names, or make a new one."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Final

from explorer.cli.parser import Settings
from explorer.files import Loaded, load_scene, save_scene
from explorer.files.listing import scene_at

NEW_HOPS: Final = 2


def scene_of(settings: Settings, folder: Path) -> Loaded:
    """Return the named scene, or else a new one, which is saved in its own folder below ``folder``.

    Raises:
        SceneError: there is no such scene, there are several, or it cannot be used.
        GenerationError: no scene could be made.
    """
    if settings.scene is not None:
        return scene_at(settings.scene)
    from explorer.generating.composer import compose
    from explorer.generating.knobs import Knobs

    (hops,) = settings.hops or (NEW_HOPS,)
    seed = _fresh_seed(folder, hops) if settings.fresh else settings.seed
    path = _folder(folder, seed, hops)
    save_scene(path, compose(seed, 0, Knobs(hops=hops)).loaded())
    return load_scene(path)


def _fresh_seed(folder: Path, hops: int) -> int:
    return next(seed for seed in count(1) if not _folder(folder, seed, hops).exists())


def _folder(folder: Path, seed: int, hops: int) -> Path:
    return folder / f"seed_{seed}_hops_{hops}"
