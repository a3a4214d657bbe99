"""The command ``worlds``: list what is built in and what plugins have registered."""

from __future__ import annotations

from spca.common.command import EXIT_FINISHED


def list_worlds() -> int:
    """List the worlds, and whatever else plugins have registered, and from where."""
    from spca.common.printing import make_cell, make_table, make_text, open_console
    from spca.plugins.loaded import loaded_plugins
    from spca.plugins.registry import list_registrations

    console = open_console()
    table = make_table("kind", "name", "from", "details", left=4)
    for registration in list_registrations():
        row = (registration.kind, registration.name, registration.origin, registration.details)
        table.add_row(*map(make_cell, row))
    console.print(table)

    for plugin in loaded_plugins():
        version = f" {plugin.version}" if plugin.version else ""
        console.print(make_text(f"{plugin.name}{version}: {plugin.given}"), soft_wrap=True)
    return EXIT_FINISHED
