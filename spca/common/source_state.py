"""The source that made a result: its git commit, whether tracked files were edited, and a hash of the product.

The product consists of all files that decide the behaviour of the program.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from spca.common.installation import APPLICATIONS, PACKAGES

CONTINUATIONS: Final = "continued_with"
"""Field of a record: further states of the source with which the work was continued."""
_PRODUCT_PACKAGES: Final = ("spca", "gridworld", "explorer", "robot_bridge")
_PRODUCT_APPLICATIONS: Final = (
    "main.py",
    "minigridenv.py",
    "plannerLLM.py",
    "coderLLM.py",
    "agent.py",
    "llmclient.py",
    "metrics_logger.py",
    "run_eval.py",
    "spca_model.py",
    "gridworldenv.py",
)
_PRODUCT_SUFFIXES: Final = (".py", ".jinja", ".json")
_OUTSIDE_PRODUCT: Final = frozenset({"__pycache__", APPLICATIONS.name})
_GIT_TIMEOUT_S: Final = 10


@dataclass(frozen=True, slots=True)
class SourceState:
    """The source of this program as it is now.

    Attributes:
        git_commit: commit of the checkout or of the installed repository; None if it is not known.
        git_dirty: whether tracked files differ from the commit; None outside of a checkout.
        product: hash of all files that decide behaviour, equal for a checkout and the wheel built from it.
    """

    git_commit: str | None
    git_dirty: bool | None
    product: str

    def to_dict(self, **hashes: str | None) -> dict[str, Any]:
        """Return the state as JSON-compatible data; ``hashes`` are added to its field ``hashes``."""
        return {
            "git_commit": self.git_commit,
            "git_dirty": self.git_dirty,
            "hashes": {"product": self.product, **hashes},
        }


def read_source_state(root: Path) -> SourceState:
    """Return the present state of the source; this takes about 15 ms.

    Args:
        root: folder of the applications.
    """
    commit, dirty = _git_state(root)
    return SourceState(commit, dirty, _hash_product(root, PACKAGES))


def describe_changed_source(record: Mapping[str, Any], now: SourceState) -> dict[str, Any]:
    """Return the field :data:`CONTINUATIONS` to add to ``record`` if the source has changed since; else {}.

    Args:
        record: holds the fields of :meth:`SourceState.to_dict` from the beginning of the work.
        now: the present state of the source.
    """
    source = now.to_dict()
    if all(record.get(name) == value for name, value in source.items()):
        return {}
    return {CONTINUATIONS: [source]}


def hash_texts(*texts: str) -> str:
    """Return a SHA-256 of texts; their order and the boundaries between them count."""
    digest = hashlib.sha256()
    for text in texts:
        digest.update(hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest())
    return digest.hexdigest()


def _hash_product(root: Path, packages: Path) -> str:
    """Return one hash of the names and contents of all files of the product.

    Args:
        packages: the folder in which the packages lie.
    """
    digest = hashlib.sha256()
    for name, path in sorted(_product_files(root, packages)):
        digest.update(name.encode("utf-8", "surrogateescape") + b"\0")
        digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _product_files(root: Path, packages: Path) -> Iterator[tuple[str, Path]]:
    """Yield name and path of each file of the product; names are the same in a checkout and in a wheel."""
    for name in _PRODUCT_APPLICATIONS:
        if (root / name).is_file():
            yield name, root / name
    for package in _PRODUCT_PACKAGES:
        for folder, subfolders, files in os.walk(packages / package):
            subfolders[:] = [name for name in subfolders if name not in _OUTSIDE_PRODUCT]
            for name in files:
                path = Path(folder, name)
                if name.endswith(_PRODUCT_SUFFIXES) and path.is_file():  # an editor's lock is a dead link
                    yield path.relative_to(packages).as_posix(), path


def _git_state(root: Path) -> tuple[str | None, bool | None]:
    """Return the commit and whether tracked files were edited since; None for what git or the installer cannot tell."""
    if root == APPLICATIONS:
        return _read_installed_commit(), None
    if not (root / ".git").exists():
        return None, None
    # One call answers both. Untracked files do not count: runs and notes lie in a checkout, too.
    status = ("status", "--porcelain=v2", "--branch", "--untracked-files=no")
    command = ["git", "-C", str(root), "--no-optional-locks", *status]
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=_GIT_TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError, UnicodeDecodeError):
        return None, None
    lines = answer.stdout.splitlines()
    headers = dict(line[2:].partition(" ")[::2] for line in lines if line.startswith("# "))
    commit = headers.get("branch.oid", "(initial)")
    dirty = any(not line.startswith("#") for line in lines)
    return None if commit == "(initial)" else commit, dirty


def _read_installed_commit() -> str | None:
    """Return the commit that the installer has recorded (PEP 610), or None."""
    try:
        recorded = metadata.distribution("sense-plan-code-act").read_text("direct_url.json")
        commit: str | None = json.loads(recorded or "{}").get("vcs_info", {}).get("commit_id")
    except (metadata.PackageNotFoundError, ValueError):
        return None
    return commit
