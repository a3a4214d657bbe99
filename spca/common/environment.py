"""Variables that choose models, keys and servers: read from ``.env``, with misspelled names found.

A run whose key is misspelled would go on with the embedded model and say nothing. So a line of ``.env`` that sets
nothing, or sets a name that is nearly one of ours, stops the program. A name is nearly one of ours where

- it is the same but for case and separators (``openai_api_key``, ``OPENAI-API-KEY``), or for a letter or two
  (``OPENAI_API_KY``): ``difflib`` finds them alike by at least 0.9;
- or it is the same with a word left out after the first (``OPENAI_KEY``);
- or it begins with ``SPCA_``, whose names are all known.

It is taken as it is where the true name is set too, where it is the true name with more words (``OPENAI_API_KEY_2``,
``MY_OPENAI_API_KEY``), or where a server of the user's own names it (``--server lab=URL,OPENAI_API_KEYS``).
"""

from __future__ import annotations

import os
import re
from collections import ChainMap
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Final

from spca.common.command import complain
from spca.common.debug_log import start_if_asked
from spca.common.errors import FileError, SettingsError
from spca.common.files import read_text

if TYPE_CHECKING:
    from dotenv.parser import Binding

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
    "SPCA_PROGRAM",
    "SPCA_SERVERS",
    "SPCA_UNSAFE_NO_SANDBOX",
)
"""Variables that a program of ours reads and a ``.env`` may set."""

_OUR_PREFIX: Final = "SPCA_"
_LEAST_LIKENESS: Final = 0.9
_MAX_BYTES: Final = 64 << 10
"""Linux starts no process with a variable of 128 KiB."""
_ON: Final = frozenset({"1", "true", "t", "yes", "y"})
"""Values of ``PYTHON_DOTENV_DISABLED`` that turn ``.env`` off, as python-dotenv has them."""


def complete_environment(folders: Iterable[Path], servers: Collection[str] = ()) -> None:
    """Complete the environment from the ``.env`` of each folder, and warn of names in it that are nearly ours.

    Args:
        folders: those whose files say more come first.
        servers: values of ``--server``: variables that they name are the user's own.

    Raises:
        FileError: see :func:`load_env`.
        SettingsError: see :func:`load_env`.
    """
    for folder in dict.fromkeys(folders):
        load_env(folder / ".env", servers)
    for name, meant in _find_misspelled(_variables_of_process(), os.environ, servers):
        complain(f"warning: the environment variable {name} is read by nothing here: did you mean {meant}?")


def load_env(path: Path, servers: Collection[str] = ()) -> None:
    """Complete the environment from a ``.env`` file, if there is one; variables that are set stay.

    Args:
        servers: values of ``--server``: variables that they name are the user's own.

    Raises:
        FileError: the file cannot be read, is larger than an environment may be, or holds what none can hold.
        SettingsError: a line sets nothing, or a name that is nearly one of ours.
    """
    if not os.path.lexists(path) or os.environ.get("PYTHON_DOTENV_DISABLED", "").casefold() in _ON:
        return
    values, lines = _read_variables(path)
    known: Mapping[str, str] = {**values, **{name: value for name, value in os.environ.items() if value}}
    for name, meant in _find_misspelled(values, known, servers):
        raise SettingsError(f"{path}, line {lines[name]}: {name} is read by nothing here: write {meant}")
    for name, value in values.items():
        try:
            os.environ.setdefault(name, value)
        except UnicodeEncodeError as error:  # the encoding of the system is not UTF-8
            bad = f"U+{ord(error.object[error.start]):04X} is not in the system's encoding, {error.encoding}"
            raise FileError(path, f"{bad}: set PYTHONUTF8=1") from error
    start_if_asked()


def nearest_variable(name: str) -> str:
    """Return the variable of ours that ``name`` nearly is, "" if there is none."""
    upper = name.upper()
    if any(re.search(rf"(^|_){known}(_|$)", upper) and upper != known for known in KNOWN_VARIABLES):
        return ""
    least = 0.0 if upper.startswith(_OUR_PREFIX) else _LEAST_LIKENESS
    letters = {_letters(known): known for known in KNOWN_VARIABLES}
    near = get_close_matches(_letters(name), letters, 1, least)
    if near:
        return letters[near[0]]
    return next((known for known in KNOWN_VARIABLES if _is_shortened(upper, known)), "")


def _is_shortened(name: str, known: str) -> bool:
    """Return whether a name is a known one with a word left out after the first, and not the first word alone."""
    first, *others = name.split("_")
    known_first, *known_others = known.split("_")
    is_one_short = len(others) == len(known_others) - 1
    return bool(others) and is_one_short and first == known_first and set(others) < set(known_others)


def _variables_of_process() -> dict[str, str]:
    """Return the variables of the process but for those that begin as ours do: scripts and tests use further ones."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OUR_PREFIX)}


def _letters(name: str) -> str:
    return re.sub(r"[\W_]", "", name.casefold())


def _find_misspelled(
    values: Mapping[str, str], known: Mapping[str, str], servers: Collection[str]
) -> Iterator[tuple[str, str]]:
    """Yield each name that is nearly one of ours, with that one.

    Args:
        values: where names are looked for.
        known: all that is set: a true name in it settles what is meant.
        servers: values of ``--server``.
    """
    user_names = {word for text in (*servers, known.get("SPCA_SERVERS", "")) for word in re.split(r"[,|]", text)}
    for name in values:
        if name in KNOWN_VARIABLES or name in user_names:
            continue
        meant = nearest_variable(name)
        is_settled = bool(known.get(meant)) and not name.startswith(_OUR_PREFIX)
        if meant and not is_settled:
            yield name, meant


def _read_variables(path: Path) -> tuple[dict[str, str], dict[str, int]]:
    """Return what the lines of a ``.env`` file set, the variables in the values expanded, and the line of each name.

    Raises:
        FileError: the file is no text, a name holds an ``=``, or the values are too long.
        SettingsError: a line sets nothing.
    """
    from dotenv.parser import parse_stream
    from dotenv.variables import parse_variables

    values: dict[str, str] = {}
    lines: dict[str, int] = {}
    known = ChainMap[str, str | None](os.environ, values)  # type: ignore[arg-type]  # nothing is set through it
    room = _MAX_BYTES
    for binding in parse_stream(StringIO(read_text(path, _MAX_BYTES))):
        text = binding.original.string
        line = binding.original.line + text[: len(text) - len(text.lstrip())].count("\n")
        name = binding.key or ""
        if "=" in name:
            raise FileError(path, f"line {line}: the name is quoted with an = in it: write NAME='value'")
        if binding.error or (name and binding.value is None):
            raise SettingsError(f"{path}, line {line}: {_describe_fault(binding)}")
        if not name:  # a comment, or blank lines
            continue
        values[name] = "".join(atom.resolve(known) for atom in parse_variables(binding.value or ""))
        lines[name] = line
        room -= len(values[name])
        if room < 0:
            most = f"{_MAX_BYTES >> 10} kB"
            raise FileError(path, f"line {line}: with their variables expanded, the values have more than {most}")
    return values, lines


def _describe_fault(binding: Binding) -> str:
    """Return what is wrong with a line, and how to write it; of the line itself only names of ours: it may be a key."""
    line = binding.original.string.strip().partition("\n")[0].removeprefix("export ")
    head, equals, value = line.partition("=")
    words = (head, *re.findall(r"[\w.-]+", head)[:3])
    name = next(filter(None, (_known_or_near(word) for word in words)), "NAME")
    quote = value.strip()[:1]
    if not equals:
        return f"it has no =: write {name}=VALUE"
    if quote in ("'", '"') and not re.search(r"\s", head.strip()):
        return f"its quote {quote} is not closed, or text follows it: write {name}={quote}VALUE{quote}"
    return f"it sets no variable: write {name}=VALUE"


def _known_or_near(word: str) -> str:
    return word if word in KNOWN_VARIABLES else nearest_variable(word)
