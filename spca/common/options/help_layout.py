"""The layout of ``--help``: plain text in two columns, as wide as the terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from cyclopts.help import HelpEntry, HelpPanel
    from rich.console import Console, ConsoleOptions

_INDENT: Final = "  "
_MAX_NAMES: Final = 24
"""Width of the column of names; a longer name stands on a line of its own."""


class HelpLayout:
    """Help formatter for cyclopts. Unlike the plain formatter of cyclopts, this class aligns and wraps the texts."""

    def __call__(self, console: Console, options: ConsoleOptions, panel: HelpPanel) -> None:
        """Print one group of options or commands."""
        if not panel.entries:
            return

        console.print()
        _print(console, f"{panel.title}:")
        names = [_name_entry(entry) for entry in panel.entries]
        names_width = min(max(map(len, names)), _MAX_NAMES) + len(_INDENT)
        text_width = options.max_width - names_width - len(_INDENT)

        for name, entry in zip(names, panel.entries, strict=True):
            lines = wrap(_describe_entry(entry), text_width, break_on_hyphens=False)
            if len(name) >= names_width or not lines:
                _print(console, f"{_INDENT}{name}")
            else:
                _print(console, f"{_INDENT}{name:<{names_width}}{lines.pop(0)}")
            for line in lines:
                _print(console, f"{_INDENT}{'':<{names_width}}{line}")

    def render_usage(self, console: Console, _options: ConsoleOptions, usage: object) -> None:
        """Print the usage line."""
        _print(console, f"Usage: {_plain(usage)}")

    def render_description(self, console: Console, options: ConsoleOptions, description: object) -> None:
        """Print what the command does."""
        for paragraph in filter(None, _plain(description).split("\n\n")):
            console.print()
            for line in wrap(paragraph, options.max_width, break_on_hyphens=False):
                _print(console, line)


def _name_entry(entry: HelpEntry) -> str:
    """Return the names of an option or command, with the name of the option's value."""
    return ", ".join(entry.display_labels_with_metavar or entry.positive_names)


def _describe_entry(entry: HelpEntry) -> str:
    """Return the description of an option or command, with its choices, and "(required)" if it is required."""
    description = _plain(entry.description)
    if entry.choices:
        description = f"{description} ({', '.join(entry.choices)})"
    return f"{description} (required)" if entry.required else description


def _plain(text: object) -> str:
    """Return a text of cyclopts as a plain string; cyclopts wraps some texts into renderables of rich."""
    return str(getattr(text, "primary_renderable", text or "")).strip()


def _print(console: Console, text: str) -> None:
    console.print(text, highlight=False, markup=False, soft_wrap=True)
