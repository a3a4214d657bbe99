"""``human/editor`` and ``human/FOLDER``: a person as a model, asked in an editor or through files.

A question keeps its file until it is answered and is found again by its key, so that a run that goes on finds what was
written already.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel

from spca.common.errors import FileError, SettingsError
from spca.common.files import check_folder, make_folder, read_bytes, read_text, write_atomic
from spca.common.text import one_line, visible
from spca.errors import BadAnswerError, ProviderConfigError
from spca.llm.calls.answers import parse_answer
from spca.llm.calls.call_keys import prompt_key
from spca.llm.providers import schemas
from spca.llm.providers.base import Finish, Request, Response, Target, Tool, ToolCall
from spca.llm.providers.offline.reference import NO_TOKENS

EDITOR: Final = "editor"
"""The model that is no folder."""
SETTLED_S: Final = 1.0
"""Seconds for which the file of an answer has stayed as it is before it is read."""

_POLL_S: Final = 0.1
_NUMBERED: Final = re.compile(r"(\d{4,9})-[a-z]+\..*")
_ROLE: Final = re.compile("[a-z]{1,20}")
_SUFFIXES: Final = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_EDITED: Final = """\
Write your answer above this line, save, and close the editor. What stands below is not read.
To stop here, close it without an answer: the run can go on later."""
_AWAITED: Final = f"""\
Write your answer to the file STEM.answer.md in this folder. It is read as soon as it is not blank and has
stayed as it is for {SETTLED_S:g} s. To save in between, give it another name and rename it when it is finished."""

_END: Final = "\n\f\n\n\n\n\n"
"""Before it neither Vim looks for modelines nor Emacs for local variables: the question is data."""


class _Called(BaseModel):
    """A call of a tool, as a person writes it."""

    tool: str
    arguments: dict[str, Any]


class HumanProvider:
    """Waits for a person, however long; ``target.model`` is "editor" or the path of a folder.

    Attributes:
        at_terminal: the person needs the terminal: nothing else may write there meanwhile.
        latency_s: what an answer takes on the clock of a simulated robot: it waits.

    Raises:
        ProviderConfigError: no editor is set, or the folder cannot be written to.
    """

    latency_s: Final = 0.0

    def __init__(self, target: Target) -> None:
        self.at_terminal = target.model == EDITOR
        self._label = f"human/{target.model}"
        self._folder = _drafts() if self.at_terminal else Path(target.model).absolute()
        if self.at_terminal:
            _editor()
        with self._explaining():
            check_folder(self._folder)

    def complete(self, request: Request) -> Response:
        """Ask, and wait for the answer.

        Raises:
            ProviderConfigError: the editor failed or was closed without an answer, or a file cannot be used.
        """
        with self._explaining():
            make_folder(self._folder)
            text = self._read_from_editor(request) if self.at_terminal else self._await_answer(request)
        call = _call(text, request.tools)
        return Response("", NO_TOKENS, Finish.TOOL_CALL, (call,)) if call else Response(text, NO_TOKENS)

    @contextmanager
    def _explaining(self) -> Iterator[None]:
        try:
            yield
        except (FileError, SettingsError) as error:
            raise ProviderConfigError(f"{self._label}: {error}") from error

    def _read_from_editor(self, request: Request) -> str:
        """Return what stands above the mark of the question's file once the editor is closed."""
        path = self._write_question(request, ".md", "\n\n", _EDITED)
        code = _run([*_editor(), str(path)])
        if code:
            raise ProviderConfigError(
                f"{self._label}: the editor ended with exit code {code}; what it saved is in {path}"
            )
        answer = read_text(path).partition(_mark(request))[0].strip()
        if not answer:
            raise ProviderConfigError(
                f"{self._label}: the editor was closed without an answer at the top of {path}"
                " (one that does not wait needs an option, such as EDITOR='code --wait')"
            )
        path.unlink(missing_ok=True)
        return answer

    def _await_answer(self, request: Request) -> str:
        """Return what stands in the answer's file once somebody has written it."""
        path = self._write_question(request, ".prompt.md", "", _AWAITED)
        answer = path.with_name(path.name.replace(".prompt.", ".answer."))
        if not answer.exists():
            print(one_line(f"waiting for {answer}, the answer to {path.name}"), file=sys.stderr, flush=True)
        before = None
        since = time.monotonic()
        while True:
            state = _state(answer)
            if state != before:
                before = state
                since = time.monotonic()
            elif state and time.monotonic() - since >= SETTLED_S:
                text = read_text(answer).strip()
                if text:
                    return text
            time.sleep(_POLL_S)

    def _write_question(self, request: Request, suffix: str, room: str, how: str) -> Path:
        """Return the file of the question, which is written unless it is there already."""
        mark = _mark(request)
        number = 0
        for path in sorted(self._folder.glob("[0-9]*-*")):
            if known := _NUMBERED.fullmatch(path.name):
                number = max(number, int(known[1]))  # of answers as well, whose questions may be gone
                if path.name.endswith(suffix) and _holds(path, mark):
                    return path
        role = request.phase if _ROLE.fullmatch(request.phase) else "model"
        images = [image for message in request.messages for image in message.images]
        while True:
            number += 1
            stem = f"{number:04d}-{role}"
            names = [f"{stem}-{at}{_SUFFIXES.get(each.media_type, '.bin')}" for at, each in enumerate(images, 1)]
            text = f"{room}{mark}\n{how.replace('STEM', stem)}\n\n{_question(request, names)}\n{_END}"
            pictures = zip(names, images, strict=True)
            question = self._folder / f"{stem}{suffix}"
            # The question comes last, when its pictures are there; a number that somebody else has just taken is left.
            if all(_create_file(self._folder / each, image.data) for each, image in pictures) and _create_file(
                question, text
            ):
                return question


def _drafts() -> Path:
    """Where the files of unanswered questions lie that an editor opens: the state folder of the user."""
    given = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(given) if given.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise ProviderConfigError(f"human/{EDITOR}: you have no home folder: set XDG_STATE_HOME to a folder") from error
    return state / "spca" / "answers"


def _editor() -> list[str]:
    """The command of the editor.

    Raises:
        ProviderConfigError: there is none; names the fix.
    """
    name = "VISUAL" if os.environ.get("VISUAL", "").strip() else "EDITOR"
    command = os.environ.get(name, "")
    fix = "give one such as EDITOR=nano, or take human/FOLDER, which waits for files"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ProviderConfigError(f"human/{EDITOR}: {name}={command} is no command ({error}): {fix}") from error
    if not words:
        raise ProviderConfigError(f"human/{EDITOR}: neither VISUAL nor EDITOR is set: {fix}")
    if shutil.which(words[0]) is None:
        raise ProviderConfigError(f"human/{EDITOR}: there is no program {words[0]} ({name}): {fix}")
    return words


def _run(command: Sequence[str]) -> int:
    """Run an editor to its end; the exit code. What the keys of an interrupt do meanwhile is its own affair."""
    keys = (signal.SIGINT, signal.SIGQUIT) if threading.current_thread() is threading.main_thread() else ()
    # Handlers, not SIG_IGN, which the editor would inherit.
    before = {each: signal.signal(each, lambda _number, _frame: None) for each in keys}
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        raise ProviderConfigError(f"human/{EDITOR}: cannot start {command[0]}: {error.strerror}") from error
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


def _mark(request: Request) -> str:
    """The line that tells a question from all others; it cannot occur in the question, whose digest it holds."""
    return f"<!-- 8< {prompt_key(request)[:32]}-{request.occurrence} -->"


def _question(request: Request, pictures: Sequence[str]) -> str:
    """What the person reads: the form of the answer, then the conversation."""
    parts = [_form(request)]
    names = iter(pictures)
    for message in request.messages:
        parts.append(f"# {message.role}\n\n{visible(message.text)}")
        parts += [f"(picture: {next(names)})" for _ in message.images]
    return "\n\n".join(filter(None, parts))


def _form(request: Request) -> str:
    if request.schema is not None:
        return f"{schemas.describe_form(request.schema)}\nLine breaks within its strings may be written as they are."
    if not request.tools:
        return ""
    choice = {"auto": "You may call a tool, or answer in words.", "required": "Call one of the tools."}
    told = choice.get(request.tool_choice, f"Call the tool {request.tool_choice}.")
    schema = {each.name: json.dumps(schemas.json_schema(each.parameters)) for each in request.tools}
    lines = "\n".join(f"- {each.name}: {each.description} {schema[each.name]}" for each in request.tools)
    return f'{told} A call is one JSON object, {{"tool": "NAME", "arguments": {{...}}}}. The tools:\n{lines}'


def _call(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """The call that an answer is; None where it is words."""
    try:
        found = parse_answer(text, _Called) if tools else None
    except BadAnswerError:
        return None
    return ToolCall(found.tool, found.arguments) if found else None


def _holds(path: Path, mark: str) -> bool:
    """Whether a file is that of a question, whatever an editor has made of its encoding."""
    try:
        return mark.encode() in read_bytes(path)
    except FileError:
        return False


def _create_file(path: Path, content: str | bytes) -> bool:
    """Write a new file as a whole; False if there is one of that name."""
    whole = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        write_atomic(whole, content)
        os.link(whole, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    finally:
        whole.unlink(missing_ok=True)
    return True


def _state(path: Path) -> tuple[int, int, int] | None:
    """What changes when a file is written; None while there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
