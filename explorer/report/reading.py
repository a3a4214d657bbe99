"""Turn results and their scenes into a report page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from explorer.errors import ExplorerError
from explorer.evaluation.metrics import by_model
from explorer.evaluation.results import Episode
from explorer.files import Loaded
from explorer.files.listing import scene_at
from explorer.report.document import document
from explorer.report.film import film, scene_told
from explorer.report.looks import Looks
from spca.common.errors import SPCAError
from spca.common.text import one_line

REPORT: Final = "openReport"
PROGRAM: Final = "sense-plan-code-act: explorer"
MOST_FILMS: Final = 400
"""Most episodes that a page can play; more would be slow to open."""


class Shelf:
    """Scenes by name or folder, each read once.

    Args:
        known: scenes that are already in memory.
        folder: where to look for scenes that the results do not locate.
    """

    def __init__(self, known: Iterable[Loaded] = (), folder: Path | None = None) -> None:
        self._known = {loaded.scene.name: loaded for loaded in known}
        self._folder = folder
        self._scenes: dict[Path, Loaded | ExplorerError] = {}

    def scene_of(self, episode: Episode, beside: Path | None) -> Loaded:
        """Return the scene of an episode.

        Args:
            beside: folder of the results.

        Raises:
            ExplorerError: the scene is missing, or cannot be used.
        """
        if episode.scene in self._known:
            return self._known[episode.scene]
        fault: ExplorerError | None = None
        for path in self._places(episode, beside):
            if path not in self._scenes:
                self._scenes[path] = _loaded(path)
            found = self._scenes[path]
            if isinstance(found, Loaded) and found.scene.name == episode.scene:
                return found
            fault = found if isinstance(found, ExplorerError) else fault
        raise fault or ExplorerError(
            f"the scene {one_line(episode.scene)[:80]} was not found: name its folder by --scenes"
        )

    def _places(self, episode: Episode, beside: Path | None) -> Iterator[Path]:
        if episode.source:
            yield Path(episode.source)
            if beside is not None:
                yield beside / episode.source
        name = Path(episode.source or episode.scene).name
        for folder in filter(None, (self._folder, beside, beside and beside / "scenes")):
            yield folder / name
            if name != episode.scene and Path(episode.scene).name == episode.scene:
                yield folder / episode.scene


def _loaded(path: Path) -> Loaded | ExplorerError:
    try:
        return scene_at(path)
    except SPCAError as error:
        return ExplorerError(str(error))


@dataclass(frozen=True, slots=True)
class Read:
    """An episode, and the folder of its results."""

    episode: Episode
    folder: Path | None = None


def report(episodes: Sequence[Read], title: str, shelf: Shelf, done: Callable[[int], None] = lambda _: None) -> str:
    """Return the report page of episodes.

    Args:
        done: called after each episode, with the number of those done.
    """
    looks, places, films = Looks(), dict[int, int](), 0
    pieces: dict[str, Any] = {}
    rows = []
    for number, each in enumerate(episodes):
        row = _row(number, each.episode)
        try:
            loaded = shelf.scene_of(each.episode, each.folder)
            place = places.setdefault(id(loaded), len(places))
            if films == MOST_FILMS:
                raise ExplorerError(f"a page can play at most {MOST_FILMS} episodes")
            pieces[f"episode/{number}"] = _filmed(loaded, each.episode, looks)
            films += 1
            pieces.setdefault(f"scene/{place}", scene_told(loaded, looks))
            order = [milestone.milestone_id for milestone in loaded.milestones]
            row |= {"film": True, "place": place, "text": loaded.text,
                    "lit": [name in each.episode.latched for name in order]}  # fmt: skip
        except ExplorerError as error:
            row["why"] = one_line(str(error))
        rows.append(row)
        done(number + 1)
    figures = by_model(each.episode for each in episodes).items()
    rates = [{"model": model, "rows": [row.to_dict() for row in of_model]} for model, of_model in figures]
    told = {"title": title, "program": PROGRAM, "rates": rates, "episodes": rows}
    return document(title, {"report": told, "look": looks.told(), **pieces}, REPORT)


def _filmed(loaded: Loaded, episode: Episode, looks: Looks) -> dict[str, Any]:
    told = film(loaded, episode, looks)
    looks.kinds |= {thing["kind"] for thing in told["things"]}
    return told


def _row(number: int, episode: Episode) -> dict[str, Any]:
    return {
        "number": number, "scene": episode.scene, "text": "", "model": episode.model, "hops": episode.hops,
        "latched": len(episode.latched), "lit": [at < len(episode.latched) for at in range(episode.hops)],
        "solved": episode.solved, "steps": episode.steps, "ended": episode.ended, "error": episode.error,
        "refuted": episode.certificate_refuted, "film": False, "place": 0, "why": "",
    }  # fmt: skip
