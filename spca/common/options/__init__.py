"""Command lines: options as frozen dataclasses, which cyclopts parses, with one layout of help and of errors."""
