"""What a run was made with: versions, source, prompts, curriculum, models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from spca import __version__
from spca.common.installation import applications
from spca.common.jobs.versions import find_versions
from spca.common.source_state import CONTINUATIONS, hash_texts, read_source_state
from spca.errors import ResumeError
from spca.runs.level.barren import count_barren_end
from spca.runs.recording.folder import Begun
from spca.runs.settings import ROLES, Settings

_PACKAGES = (
    "minigrid",
    "gymnasium",
    "numpy",
    "unified-planning",
    "up-tamer",
    "up-fast-downward",
    "up-pyperplan",
    "openai",
)
EARLIER_MODELS: Final = "earlier_models"
"""Field of ``run.json``: models that others have replaced, each with how many levels were ``finished`` until then."""
_OF_THE_WORLD = ("spca", "minigrid", "gymnasium")


def run_info(settings: Settings, root: Path, sandbox: str, curriculum: str | None = None) -> dict[str, Any]:
    """Return what ``run.json`` holds: settings, models, versions, state of the source, level of the sandbox.

    Args:
        root: folder of the applications.
        curriculum: text of the levels; None where an evaluation chooses them.
    """
    return {
        "settings": settings.record(),
        "models": models_info(settings),
        "versions": versions(),
        **source_info(settings, root, curriculum),
        "sandbox": sandbox,
    }


def source_info(settings: Settings, root: Path, curriculum: str | None = None) -> dict[str, Any]:
    """Return commit, edits and hashes of what is about to be done; arguments as for :func:`run_info`."""
    templates = settings.wording.templates()
    words = (word for template in templates.items() for word in template)
    levels = None if curriculum is None else _hash_curriculum(curriculum)
    return read_source_state(root).to_dict(prompts=hash_texts(*words), curriculum=levels)


def note_continuation(record: Mapping[str, Any], settings: Settings, root: Path) -> dict[str, Any]:
    """Return the record of what goes on now; source or prompts that are others now are added to it.

    Args:
        record: such as ``run.json``, as it is so far.
        root: folder of the applications.
    """
    source = source_info(settings, root)
    hashes = record.get("hashes")
    if isinstance(hashes, Mapping) and "curriculum" in hashes:
        source["hashes"]["curriculum"] = hashes["curriculum"]  # a copy of it is kept, which does not change
    earlier = record.get(CONTINUATIONS)
    continuations = [*earlier] if isinstance(earlier, list) else []
    latest = continuations[-1] if continuations else record
    if isinstance(latest, Mapping):
        is_unchanged = all(latest.get(name) == value for name, value in source.items())
        if is_unchanged:
            return dict(record)
    return {**record, CONTINUATIONS: [*continuations, source]}


def record_continuation(begun: Begun, settings: Settings, sandbox: str) -> None:
    """Record what a flag or an edited source has changed in a run that goes on, so that it holds the next time too.

    Args:
        sandbox: its level here.

    Raises:
        ResumeError: the run was begun in another sandbox, or with another version of what makes its worlds.
    """
    before = begun.info
    check_versions(before.get("versions", {}))
    check_sandbox(before.get("sandbox"), sandbox)
    changed = note_continuation(before, settings, applications())
    changed["settings"] = {**before["settings"], **settings.record_changes()}
    models = models_info(settings)
    if before.get("models") not in (None, models):
        finished = len(begun.finished) - count_barren_end(begun.finished)
        changed["models"] = models
        changed[EARLIER_MODELS] = [*before.get(EARLIER_MODELS, []), {**before["models"], "finished": finished}]
    if changed != before:
        begun.folder.write_json("run.json", changed)


def models_info(settings: Settings) -> dict[str, str]:
    """Return the models of a run by role."""
    return dict(zip(ROLES, map(str, settings.models.refs), strict=True))


def _hash_curriculum(text: str) -> str:
    """Return the hash of levels; spaces and the order of keys do not count."""
    try:
        return hash_texts(json.dumps(json.loads(text), sort_keys=True))
    except (ValueError, RecursionError):
        return hash_texts(text)


def check_versions(recorded: Mapping[str, str]) -> None:
    """Refuse to go on with a run whose worlds were other ones.

    Raises:
        ResumeError: names the package whose version has changed since.
    """
    now = versions()
    for name in _OF_THE_WORLD:
        begun_with, installed = recorded.get(name), now.get(name)
        if begun_with != installed:
            raise ResumeError(f"the run was begun with {name} {begun_with}, installed is {installed}: begin a new run")


def check_sandbox(recorded: str | None, level: str) -> None:
    """Refuse to go on with a run in another sandbox: every result of a run has the same stamp.

    Raises:
        ResumeError: the levels differ.
    """
    if recorded != level:
        raise ResumeError(f"the run was begun with sandbox {recorded}, here it is {level}: begin a new run")


def versions() -> dict[str, str]:
    """Return the versions of this program, Python and the packages that matter, by name."""
    return {"spca": __version__, **find_versions(*_PACKAGES)}
