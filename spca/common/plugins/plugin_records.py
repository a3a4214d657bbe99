"""The plugins of a run as ``run.json`` records them, and their comparison with the plugins that are loaded (pure).

What a run folder names is compared and never imported.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from spca.common.errors import PluginError
from spca.common.text import one_line

PLUGINS: Final = "plugins"
"""Field of ``run.json`` and ``evaluation.json`` that lists the plugins; the field is missing without plugins."""
_MAX_SHOWN: Final = 200
"""Maximum number of characters of a recorded text in a message."""


@dataclass(frozen=True, slots=True)
class PluginRecord:
    """A plugin that was loaded.

    Attributes:
        name: name of its module.
        given: the module as the user has named it: a dotted name, or the absolute path of a file.
        version: version of its distribution, else its ``__version__``, else "".
        sha256: hash of its source, "" if it has none.
        words: words of cells that it has added, in the order of their codes. Other plugins that add words before it
            would give its words other codes.
        first_code: code of the first of these words, 0 if there are none.
    """

    name: str
    given: str
    version: str = ""
    sha256: str = ""
    words: tuple[str, ...] = ()
    first_code: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the record as JSON-compatible data."""
        return {**asdict(self), "words": list(self.words)}


def list_plugin_flags(record: Mapping[str, Any]) -> list[str]:
    """Return the flags that load the plugins which a folder records, such as ``["--plugin", "vending"]``.

    Of the path of a file only the file's name is returned, because the path holds on one machine only.

    Args:
        record: content of ``run.json`` or ``evaluation.json``, whose values may be of any JSON type.
    """
    listed = record.get(PLUGINS)
    flags: list[str] = []
    for entry in listed if isinstance(listed, list) else []:
        given = entry.get("given") if isinstance(entry, Mapping) else None
        if isinstance(given, str):
            flags += ["--plugin", given.rpartition("/")[2]]
    return flags


def require_recorded(record: Mapping[str, Any], what: str, loaded: Sequence[PluginRecord]) -> None:
    """Raise an error unless the plugins that a folder records are loaded, in the same version.

    Args:
        record: content of ``run.json`` or ``evaluation.json``, whose values may be of any JSON type.
        what: the folder, for the message, such as "run 20261127-101500-ab12".
        loaded: the plugins of this process.

    Raises:
        PluginError: a plugin is missing, or has another version or source; the message names the flag to give.
    """
    listed = record.get(PLUGINS, [])
    by_name = {plugin.name: plugin.to_dict() for plugin in loaded}
    for entry in listed if isinstance(listed, list) else [listed]:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), str):
            raise PluginError(f"{what} has an unreadable list of plugins: mend {PLUGINS!r} in its record")
        known = by_name.get(entry["name"])
        given = _shorten(entry.get("given", entry["name"]))
        if known is None:
            version = f" {_shorten(entry['version'])}" if entry.get("version") else ""
            fix = f"give --plugin {shlex.quote(given)}, or install it"
            raise PluginError(f"{what} used the plugin {_shorten(entry['name'])}{version}, which is not loaded: {fix}")
        _require_same(entry, known, f"{what} used the plugin {known['name']}")


def require_no_other(record: Mapping[str, Any], what: str, loaded: Sequence[PluginRecord]) -> None:
    """Raise an error if a plugin has added words of cells, but the folder does not record the plugin.

    Args:
        record, what, loaded: see :func:`require_recorded`.
    """
    listed = record.get(PLUGINS, [])
    names = [entry["name"] for entry in listed]
    for plugin in loaded:
        if plugin.words and plugin.name not in names:
            raise PluginError(f"{what} was begun without the plugin {plugin.name}: leave it out")


def _require_same(entry: Mapping[str, Any], known: Mapping[str, Any], used: str) -> None:
    """Raise an error if a loaded plugin differs from the recorded one."""
    if entry.get("version", "") != known["version"]:
        recorded = _shorten(entry.get("version") or "without a version")
        found = known["version"] or "one without a version"
        raise PluginError(f"{used} {recorded}, loaded is {found}: load the same version")
    if entry.get("sha256", "") != known["sha256"]:
        hashes = f"{_shorten(entry.get('sha256', ''))[:12]}, not {known['sha256'][:12]}"
        raise PluginError(f"{used} with another source ({hashes}): load the same source")
    has_same_codes = all(entry.get(name) == known[name] for name in ("words", "first_code"))
    if not has_same_codes:
        raise PluginError(f"{used}, whose kinds and colours had other codes: give the plugins in the run's order")


def _shorten(value: object) -> str:
    return one_line(str(value))[:_MAX_SHOWN]
