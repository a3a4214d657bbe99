"""Load the plugins that a user has named."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spca.common.plugins.plugin_records import PluginRecord
from spca.common.plugins.sources import list_named_sources
from spca.plugins.loaded import is_loaded


def load_named_plugins(flags: Sequence[str]) -> None:
    """Load the plugins that flags, the environment and installed packages name.

    Args:
        flags: values of ``--plugin``.

    Raises:
        PluginError: a plugin is missing, raises an error, or registers a name that is taken.
    """
    if sources := list_named_sources(flags):
        from spca.plugins.registry import load_plugins

        load_plugins(sources)


def load_same_plugins(records: Sequence[PluginRecord]) -> None:
    """Load, in a worker, the plugins that the main process has loaded.

    Raises:
        PluginError: see :func:`load_named_plugins`; or the source of a plugin differs on this machine.
    """
    if records:
        from spca.plugins.registry import load_recorded_plugins

        load_recorded_plugins(records)


def load_environment_modules(env_ids: Iterable[str]) -> None:
    """Import the modules in ids of the form ``module:Id-v0``, which the user's own curriculum names.

    Raises:
        PluginError: a module is missing or raises an error.
    """
    for env_id in env_ids:
        module, _, _ = env_id.rpartition(":")
        if module and not is_loaded(module):
            from spca.plugins.registry import load_environment_module

            load_environment_module(module, env_id)
