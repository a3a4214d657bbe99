"""Command lines, parsed by cyclopts into frozen dataclasses of options, with a common layout of help and errors."""
