"""Check the certificates of scenes before the scenes are played."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path

from explorer.errors import SceneError
from explorer.files import Loaded, certificate_file
from explorer.released import is_released
from explorer.solver.certificate import check
from spca.common.jobs.progress import show_bar

_log = logging.getLogger(__name__)


def require_certificates(scenes: Iterable[Loaded], *, quiet: bool = True) -> None:
    """Check the certificate of each scene by proving its claims again.

    Scenes of released sets are skipped; a released set is recognised by its checksum.

    Args:
        quiet: show no progress.

    Raises:
        SceneError: a certificate does not hold; the error names the file of the certificate.
    """
    unchecked = []
    for scene in scenes:
        if scene.certificate and not is_released(_scene_file(scene)):
            unchecked.append((scene, scene.certificate))
    with show_bar(quiet, "certificates", "hold") as update_bar:
        for number, (loaded, certificate) in enumerate(unchecked, start=1):
            try:
                findings = check(loaded.scene, loaded.milestones, loaded.graph, certificate)
            except SceneError as error:
                error.at(loaded.source)
                raise
            if findings:
                _log.info("%s: refused: %s", loaded.source, "; ".join(map(str, findings)))
                problem = f"certify refuses it: {findings[0]}; restore it, or remove it to play the scene without"
                raise SceneError(problem, certificate_file(loaded))
            update_bar(number, len(unchecked), number)


def _scene_file(loaded: Loaded) -> Path:
    """Return the path in the source of a scene, such as ``test.jsonl`` for the source ``test.jsonl:3``."""
    return Path(loaded.source.rpartition(":")[0])
