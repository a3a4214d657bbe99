"""Make a report page from results and the scenes of these results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from explorer.errors import ExplorerError
from explorer.evaluation.metrics import by_model
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.files.listing import scene_at
from explorer.report.film import film
from explorer.report.looks import Looks
from explorer.report.pages import REPORT_PAGE
from spca.common.errors import SPCAError
from spca.common.text import one_line
from spca.common.web.packing import pack

PROGRAM: Final = "sense-plan-code-act: explorer"
MAX_FILMS: Final = 400
"""Largest number of episodes that a page can play. A page with more episodes would be slow to open."""
_SHOWN: Final = ("scene", "model", "hops", "solved", "steps", "cost", "ended", "error")
"""Fields of an episode that are copied to a page unchanged."""


class Shelf:
    """Scenes of episodes, each read from its files at most once.

    Args:
        known: scenes that are already in memory.
        folder: an additional folder in which to look for scenes, or None for no such folder.
    """

    def __init__(self, known: Iterable[Loaded] = (), folder: Path | None = None) -> None:
        self._known = {loaded.scene.name: loaded for loaded in known}
        self._folder = folder
        self._load = cache(scene_at)

    def scene_of(self, episode: Episode, beside: Path | None) -> Loaded:
        """Return the scene of an episode.

        Args:
            beside: folder of the results file that contains the episode, or None if unknown.

        Raises:
            ExplorerError: the scene is missing, or cannot be used.
        """
        if episode.scene in self._known:
            return self._known[episode.scene]

        fault: ExplorerError | None = None
        for path in self._list_places(episode, beside):
            try:
                loaded = self._load(path)
            except SPCAError as error:
                # The page may be published, so the error must not reveal the path of the user's folder.
                fault = ExplorerError(str(error).replace(f"{path.parent}/", ""))
                continue
            if loaded.scene.name == episode.scene:
                return loaded
        raise fault or ExplorerError(
            f"the scene {one_line(episode.scene)[:80]} was not found: name its folder by --scenes"
        )

    def _list_places(self, episode: Episode, beside: Path | None) -> Iterator[Path]:
        """Yield the paths at which the scene of an episode may be, most likely first."""
        if episode.source:
            yield Path(episode.source)
            if beside is not None:
                yield beside / episode.source
        file_name = Path(episode.source or episode.scene).name
        scene_is_file_name = Path(episode.scene).name == episode.scene  # so that no ".." leads out of the folder
        folders = [] if self._folder is None else [self._folder]
        if beside is not None:
            folders += [beside, beside / "scenes"]
        for folder in folders:
            yield folder / file_name
            if file_name != episode.scene and scene_is_file_name:
                yield folder / episode.scene


@dataclass(frozen=True, slots=True)
class Read:
    """An episode, and the folder of the results file that contains the episode."""

    episode: Episode
    folder: Path | None = None


def report(episodes: Sequence[Read], title: str, shelf: Shelf, done: Callable[[int], None] = lambda _: None) -> str:
    """Return the report page of episodes as HTML.

    If the scene of an episode is missing or cannot be used, the row of the episode gives the reason. The page cannot
    play such an episode.

    Args:
        shelf: the scenes of the episodes.
        done: called after each episode with the number of episodes done so far.
    """
    looks = Looks()
    films: dict[str, str] = {}
    rows = []
    for number, each in enumerate(episodes):
        row = _describe_episode(number, each.episode)
        try:
            loaded = shelf.scene_of(each.episode, each.folder)
            row["text"] = loaded.text or row["text"]
            row["latched"] = [each.episode.latched.get(milestone.milestone_id) for milestone in loaded.milestones]
            if len(films) == MAX_FILMS:
                raise ExplorerError(f"a page can play at most {MAX_FILMS} episodes")
            films[f"episode/{number}"] = pack(film(loaded, each.episode, looks))
        except ExplorerError as error:
            row["why"] = one_line(str(error))
        rows.append(row)
        done(number + 1)

    rates = []
    for model, metrics in by_model(each.episode for each in episodes).items():
        rates += [{"model": model, **hop_metrics.to_dict()} for hop_metrics in metrics]
    page = {"title": title, "program": PROGRAM, "made": time.time(), "rates": rates, "episodes": rows}
    pieces = {"report": pack(page), "look": pack(looks.to_dict()), **films}
    return REPORT_PAGE.render(title, pieces)


def _describe_episode(number: int, episode: Episode) -> dict[str, Any]:
    """Return the row of an episode in the report.

    ``latched`` contains an entry for each milestone: the step at which the milestone latched, or None.
    """
    latched: list[int | None] = list(episode.latched.values())
    latched += [None] * (episode.hops - len(latched))
    return {
        **{name: getattr(episode, name) for name in _SHOWN},
        "number": number,
        "text": episode.scene,
        "latched": latched,
        "refuted": episode.certificate_refuted,
        "why": "",
    }
