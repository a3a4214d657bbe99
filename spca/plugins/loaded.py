"""The plugins that this process has loaded, and their comparison with the plugins that a folder records."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any, Final

from spca.common.errors import PluginError
from spca.common.plugins.plugin_records import PLUGINS, PluginRecord, require_no_other, require_recorded
from spca.common.text import one_line

LOADED: Final[list[PluginRecord]] = []
"""The plugins of this process, in the order in which they were loaded; the registry appends to the list."""


OWN_PACKAGES: Final = frozenset({"gymnasium", "minigrid"})
"""Packages whose environments are known without a plugin."""
FLAGGED: Final[list[str]] = []
"""The plugins of this process that flags have named, as they were given."""


def format_plugin_flags() -> str:
    """Return the flags to append to a command that goes on with this one's work; "" without such plugins."""
    return "".join(f" --plugin {shlex.quote(given)}" for given in FLAGGED)


def loaded_plugins() -> tuple[PluginRecord, ...]:
    """Return the plugins of this process, in the order in which they were loaded."""
    return tuple(LOADED)


def is_loaded(module: str) -> bool:
    """Return whether a module is a loaded plugin, or a part of a package whose environments need no plugin."""
    return module.partition(".")[0] in OWN_PACKAGES or module in {plugin.name for plugin in LOADED}


def require_loaded(env_id: str) -> str:
    """Return the id without the module in ``module:Id-v0``.

    An id may come from a run folder, so that the module is not imported here.

    Raises:
        PluginError: the module is not loaded.
    """
    module, _, name = env_id.rpartition(":")
    if ":" in env_id and not is_loaded(module):
        raise PluginError(f"{env_id}: the module {one_line(module)} is not loaded: give --plugin {one_line(module)}")
    return name


def record_plugins() -> dict[str, Any]:
    """Return the field of ``run.json`` that lists the loaded plugins; an empty dict without plugins."""
    records = [record.to_dict() for record in LOADED]
    return {PLUGINS: records} if records else {}


def require_plugins(record: Mapping[str, Any], what: str, *, exactly: bool = False) -> None:
    """Raise an error unless the plugins that a folder records are loaded; nothing is imported.

    Args:
        record: content of ``run.json`` or ``evaluation.json``.
        what: the folder, for the message.
        exactly: whether no other plugin may have added words of cells.

    Raises:
        PluginError: the message names the flag to give.
    """
    require_recorded(record, what, LOADED)
    if exactly:
        require_no_other(record, what, LOADED)
