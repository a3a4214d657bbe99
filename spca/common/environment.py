"""Environment variables for models, keys and servers: read from ``.env``, and checked for misspelled names.

With a misspelled key, a run would silently use the embedded model. Therefore the program stops if a line of ``.env``
sets nothing or sets a misspelled variable. A name counts as misspelled if

- it differs from a known name only in case and separators (``openai_api_key``, ``OPENAI-API-KEY``), or in a letter or
  two (``OPENAI_API_KY``; the ratio of ``difflib`` is at least 0.9);
- it is a known name without one of the words after the first (``OPENAI_KEY``); or
- it begins with ``SPCA_`` and is not a known name.

A name does not count as misspelled if it is a known name with more words (``OPENAI_API_KEY_2``, ``MY_OPENAI_API_KEY``),
or if ``--server`` names it (``--server lab=URL,OPENAI_API_KEYS``). A name that does not begin with ``SPCA_`` is also
accepted if the similar known name is set.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import Final

from spca.common.command import complain
from spca.common.debug_log import start_if_asked
from spca.common.errors import FileError, SettingsError
from spca.common.files import read_text
from spca.common.installation import applications

PLUGINS_VARIABLE: Final = "SPCA_PLUGINS"
"""The variable that names plugins; a ``.env`` must not set it."""

KNOWN_VARIABLES: Final = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "OLLAMA_API_KEY",
    "OLLAMA_HOST",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "SPCA_CODER_EFFORT",
    "SPCA_CODER_MODEL",
    "SPCA_COMMAND",
    "SPCA_DEBUG",
    "SPCA_ENGINE",
    "SPCA_LLAMACPP_THREADS",
    "SPCA_PLANNER_EFFORT",
    "SPCA_PLANNER_MODEL",
    "SPCA_PLANNER_SMALL_EFFORT",
    "SPCA_PLANNER_SMALL_MODEL",
    PLUGINS_VARIABLE,
    "SPCA_PROGRAM",
    "SPCA_SERVERS",
    "SPCA_UNSAFE_NO_SANDBOX",
)
"""Variables that the programs of this project read."""

_OUR_PREFIX: Final = "SPCA_"
_MIN_LIKENESS: Final = 0.9
_ON: Final = frozenset({"1", "true", "t", "yes", "y"})
"""Values of ``PYTHON_DOTENV_DISABLED`` that turn ``.env`` off, as in python-dotenv."""


def load_environment(servers: Collection[str] = ()) -> Mapping[str, str]:
    """Return the environment with the variables of ``.env`` in the working directory, and of ``.env`` in the checkout.

    Args:
        servers: values of ``--server``, and names of variables that hold keys of servers. Names in these values never
            count as misspelled, because the user chose them.

    Raises:
        FileError: see :func:`load_env`.
        SettingsError: see :func:`load_env`, or the working directory was deleted.
    """
    try:
        here = Path.cwd()
    except FileNotFoundError as error:
        raise SettingsError("the current folder was deleted: change to another one") from error
    complete_environment((here, applications()), servers)
    return os.environ


def complete_environment(folders: Iterable[Path], servers: Collection[str] = ()) -> None:
    """Add the variables of each folder's ``.env`` to the environment, and warn of misspelled variables in it.

    Args:
        folders: in the order of precedence: the first file that sets a variable decides.
        servers: values of ``--server``; names in these values never count as misspelled.

    Raises:
        FileError: see :func:`load_env`.
        SettingsError: see :func:`load_env`.
    """
    for folder in dict.fromkeys(folders):
        load_env(folder / ".env", servers)
    # Scripts and tests set further variables that begin with SPCA_.
    foreign = {name: value for name, value in os.environ.items() if not name.startswith(_OUR_PREFIX)}
    for name, meant in _find_misspelled(foreign, os.environ, servers):
        complain(f"warning: the environment variable {name} is read by nothing here: did you mean {meant}?")


def load_env(path: Path, servers: Collection[str] = ()) -> None:
    """Add the variables of a ``.env`` file to the environment, if the file exists.

    Variables that are already set keep their values.

    Args:
        servers: values of ``--server``; names in these values never count as misspelled.

    Raises:
        FileError: the file cannot be read, or the encoding of the system lacks a character of a value.
        SettingsError: a line sets nothing, or sets a misspelled variable.
    """
    is_disabled = os.environ.get("PYTHON_DOTENV_DISABLED", "").casefold() in _ON
    if is_disabled or not os.path.lexists(path):
        return
    from dotenv import load_dotenv

    text = read_text(path)
    _check_lines(path, text, servers)
    try:
        load_dotenv(stream=StringIO(text))
    except UnicodeEncodeError as error:
        raise FileError(path, f"{error}: set PYTHONUTF8=1") from error
    start_if_asked()


def _check_lines(path: Path, text: str, servers: Collection[str]) -> None:
    """Raise SettingsError for a line that sets nothing or sets a misspelled variable."""
    from dotenv.parser import parse_stream

    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    for binding in parse_stream(StringIO(text)):
        source = binding.original.string
        skipped = len(source) - len(source.lstrip())
        line = binding.original.line + source.count("\n", 0, skipped)
        name = binding.key or ""
        if binding.error or "=" in name or (name and binding.value is None):
            raise SettingsError(f"{path}, line {line}: it sets no variable or leaves a quote open: write NAME=VALUE")
        if name == PLUGINS_VARIABLE:  # a file in a folder must not name code to execute
            fix = "set it there, or give --plugin"
            raise SettingsError(f"{path}, line {line}: {name} is read from the environment only: {fix}")
        if name:  # else it is a comment, or blank lines
            values[name] = binding.value or ""
            lines[name] = line
    known = values | {name: value for name, value in os.environ.items() if value}
    for name, meant in _find_misspelled(values, known, servers):
        raise SettingsError(f"{path}, line {lines[name]}: {name} is read by nothing here: write {meant}")


def nearest_variable(name: str) -> str:
    """Return the known variable that ``name`` misspells; "" if there is none."""
    upper = name.upper()
    if any(re.search(rf"(^|_){known}(_|$)", upper) and upper != known for known in KNOWN_VARIABLES):
        return ""
    least = 0.0 if upper.startswith(_OUR_PREFIX) else _MIN_LIKENESS
    letters = {_letters(known): known for known in KNOWN_VARIABLES}
    near = get_close_matches(_letters(name), letters, 1, least)
    if near:
        return letters[near[0]]
    return next((known for known in KNOWN_VARIABLES if upper in _shorten(known)), "")


def _shorten(name: str) -> list[str]:
    """Return the variants of ``name`` that lack one of the words after the first."""
    first, *words = name.split("_")
    if len(words) < 2:
        return []
    return ["_".join([first, *words[:at], *words[at + 1 :]]) for at in range(len(words))]


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _find_misspelled(
    values: Mapping[str, str], known: Mapping[str, str], servers: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield each misspelled name with the known name that is meant.

    Args:
        values: the variables to check.
        known: all variables that are set. If a known name is among them, a similar name does not count as misspelled.
        servers: values of ``--server``.
    """
    user_names: set[str] = set()
    for server in (*servers, known.get("SPCA_SERVERS", "")):
        user_names.update(re.split(r"[,|]", server))

    for name in values:
        if name in KNOWN_VARIABLES or name in user_names:
            continue
        meant = nearest_variable(name)
        is_settled = bool(known.get(meant)) and not name.startswith(_OUR_PREFIX)
        if meant and not is_settled:
            yield name, meant
