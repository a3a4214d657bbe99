"""Provenance of a run: versions, state of the source, hashes of prompts and curriculum, models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from spca.bodies.recorded import BODY, describe_body
from spca.common.installation import applications
from spca.common.jobs.versions import find_versions
from spca.common.source_state import CONTINUATIONS, hash_texts, read_source_state
from spca.errors import ResumeError
from spca.plugins.loaded import record_plugins
from spca.runs.level.barren import count_barren_end
from spca.runs.recording.folder import Begun
from spca.runs.settings import ROLES, Settings
from spca.version import __version__

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
"""Field of ``run.json``: the models before each change, with the number of levels ``finished`` before the change."""
_WORLD_PACKAGES = ("spca", "minigrid", "gymnasium")
"""Packages that determine how worlds behave."""


def run_info(settings: Settings, root: Path, sandbox: str, curriculum: str | None = None) -> dict[str, Any]:
    """Return the content of ``run.json``: settings, models, versions, state of the source, sandbox, plugins.

    Args:
        root: folder of the applications.
        curriculum: text of the curriculum; None for a run that is part of an evaluation.
    """
    return {
        "settings": settings.record(),
        "models": models_info(settings),
        "versions": versions(),
        **source_info(settings, root, curriculum),
        BODY: describe_body(settings.body),
        "sandbox": sandbox,
        **record_plugins(),
    }


def source_info(settings: Settings, root: Path, curriculum: str | None = None) -> dict[str, Any]:
    """Return the commit, whether the source was edited, and hashes of source, prompts and curriculum.

    Args:
        root: folder of the applications.
        curriculum: text of the curriculum, if any.
    """
    templates = settings.wording.templates()
    names_and_texts = (word for template in templates.items() for word in template)
    curriculum_hash = None if curriculum is None else _hash_curriculum(curriculum)
    return read_source_state(root).to_dict(prompts=hash_texts(*names_and_texts), curriculum=curriculum_hash)


def note_continuation(record: Mapping[str, Any], settings: Settings, root: Path) -> dict[str, Any]:
    """Return ``record``; if source or prompts have changed, add the present state of the source.

    Args:
        record: content of ``run.json``, or of the corresponding file of an evaluation.
        root: folder of the applications.
    """
    source = source_info(settings, root)
    hashes = record.get("hashes")
    if isinstance(hashes, Mapping) and "curriculum" in hashes:
        source["hashes"]["curriculum"] = hashes["curriculum"]  # unchanged, because the run keeps a copy
    earlier = record.get(CONTINUATIONS)
    continuations = [*earlier] if isinstance(earlier, list) else []
    latest = continuations[-1] if continuations else record
    if isinstance(latest, Mapping):
        is_unchanged = all(latest.get(name) == value for name, value in source.items())
        if is_unchanged:
            return dict(record)
    return {**record, CONTINUATIONS: [*continuations, source]}


def record_continuation(begun: Begun, settings: Settings, sandbox: str) -> None:
    """Write changed settings, models and source state of a resumed run into ``run.json``, for later resumptions.

    Args:
        sandbox: level of the sandbox on this machine.

    Raises:
        ResumeError: the run was begun in another sandbox, or with another version of a package that determines how
            worlds behave.
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
    """Return role -> name of the model, for the roles of a run."""
    return dict(zip(ROLES, map(str, settings.models.refs), strict=True))


def _hash_curriculum(text: str) -> str:
    """Return the hash of a curriculum, independent of white space and of the order of keys."""
    try:
        return hash_texts(json.dumps(json.loads(text), sort_keys=True))
    except (ValueError, RecursionError):
        return hash_texts(text)


def check_versions(recorded: Mapping[str, str]) -> None:
    """Refuse to resume a run if a package that determines the behaviour of worlds has changed.

    Raises:
        ResumeError: the version of a package is not the recorded version; the message names the package.
    """
    now = versions()
    for name in _WORLD_PACKAGES:
        begun_with = recorded.get(name)
        installed = now.get(name)
        if begun_with != installed:
            raise ResumeError(f"the run was begun with {name} {begun_with}, installed is {installed}: begin a new run")


def check_sandbox(recorded: str | None, level: str) -> None:
    """Refuse to resume a run in another sandbox, because all results of a run record one level of the sandbox.

    Raises:
        ResumeError: the ``recorded`` level is not the present ``level``.
    """
    if recorded != level:
        raise ResumeError(f"the run was begun with sandbox {recorded}, here it is {level}: begin a new run")


def versions() -> dict[str, str]:
    """Return package name -> version, for this program, Python and the packages that affect results."""
    return {"spca": __version__, **find_versions(*_PACKAGES)}
