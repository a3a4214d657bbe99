"""``human/editor`` and ``human/FOLDER``: a person as a model, asked in an editor or through files in a folder.

The file of a question stays until the question is answered, and is found again by the question's key. A run that is
resumed therefore finds what the person has already written.
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
from collections.abc import Iterator, Mapping, Sequence
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
"""Name of the model that opens an editor; any other name is the path of a folder."""
SETTLED_S: Final = 1.0
"""Seconds for which an answer file must stay unchanged before the file is read."""

_POLL_S: Final = 0.1
_NUMBERED: Final = re.compile(r"(\d{4,9})-[a-z]+\..*")
"""Name of the file of a question or an answer; group: number of the question."""
_ROLE: Final = re.compile("[a-z]{1,20}")
_SUFFIXES: Final = {"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp"}
_EDITED: Final = """\
Write your answer above this line, save, and close the editor. What stands below is not read.
To stop here, close it without an answer: the run can go on later."""
_AWAITED: Final = f"""\
Write your answer to the file STEM.answer.md in this folder. It is read as soon as it is not blank and has
stayed as it is for {SETTLED_S:g} s. To save in between, give it another name and rename it when it is finished."""

_END: Final = "\n\f\n\n\n\n\n"
"""End of a question's file, which keeps Vim and Emacs from obeying settings in the question.

Vim looks for modelines in the last five lines, Emacs for local variables after the last form feed.
"""


class _Called(BaseModel):
    """A tool call in the form in which the person writes the call."""

    tool: str
    arguments: dict[str, Any]


class HumanProvider:
    """Waits for the answers of a person, without a time limit; ``target.model`` is "editor" or the path of a folder.

    Attributes:
        at_terminal: whether the person answers in the terminal; nothing else may write to the terminal meanwhile.
        latency_s: seconds that an answer takes on the clock of a simulated robot; the clock stands still meanwhile.

    Raises:
        ProviderConfigError: no editor is set, or the folder cannot be written to.
    """

    latency_s: Final = 0.0

    def __init__(self, target: Target) -> None:
        self.at_terminal = target.model == EDITOR
        self._label = f"human/{target.model}"
        self._folder = _drafts() if self.at_terminal else Path(target.model).absolute()
        if self.at_terminal:
            _find_editor()
        with self._translate_errors():
            check_folder(self._folder)

    def complete(self, request: Request) -> Response:
        """Ask the person, and wait for the answer.

        Raises:
            ProviderConfigError: the editor failed or was closed without an answer, or a file cannot be used.
        """
        with self._translate_errors():
            make_folder(self._folder)
            text = self._read_from_editor(request) if self.at_terminal else self._await_answer(request)
        call = _find_call(text, request.tools)
        if call:
            return Response("", NO_TOKENS, Finish.TOOL_CALL, (call,))
        return Response(text, NO_TOKENS)

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Turn errors of files and folders into a :class:`ProviderConfigError`."""
        try:
            yield
        except (FileError, SettingsError) as error:
            raise ProviderConfigError(f"{self._label}: {error}") from error

    def _read_from_editor(self, request: Request) -> str:
        """Open the question in the editor; return the text above the question's mark when the editor is closed."""
        path = self._write_question(request, ".md", "\n\n", _EDITED)
        exit_code = _run_editor([*_find_editor(), str(path)])
        if exit_code:
            raise ProviderConfigError(
                f"{self._label}: the editor ended with exit code {exit_code}; what it saved is in {path}"
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
        """Write the question's file; return the text of the answer's file when the text is complete.

        The text is complete if it is not blank and the file has not changed for :data:`SETTLED_S` seconds.
        """
        question_path = self._write_question(request, ".prompt.md", "", _AWAITED)
        answer_path = question_path.with_name(question_path.name.replace(".prompt.", ".answer."))
        if not answer_path.exists():
            notice = one_line(f"waiting for {answer_path}, the answer to {question_path.name}")
            print(notice, file=sys.stderr, flush=True)
        last_state = None
        unchanged_since = time.monotonic()
        while True:
            state = _state(answer_path)
            if state != last_state:
                last_state = state
                unchanged_since = time.monotonic()
            elif state and time.monotonic() - unchanged_since >= SETTLED_S:
                text = read_text(answer_path).strip()
                if text:
                    return text
            time.sleep(_POLL_S)

    def _write_question(self, request: Request, suffix: str, room: str, how: str) -> Path:
        """Return the file of the question; write the file and its pictures unless the file exists.

        Args:
            suffix: end of the file's name.
            room: blank lines above the mark, for the answer.
            how: instruction how to answer, in which STEM stands for the file's name without its suffix.
        """
        mark = _mark(request)
        path, number = self._find_question(suffix, mark)
        if path is not None:
            return path
        role = request.phase if _ROLE.fullmatch(request.phase) else "model"
        images = [image for message in request.messages for image in message.images]
        while True:
            number += 1
            stem = f"{number:04d}-{role}"
            files: dict[str, bytes | str] = {}
            for image_number, image in enumerate(images, 1):
                image_suffix = _SUFFIXES.get(image.media_type, ".bin")
                files[f"{stem}-{image_number}{image_suffix}"] = image.data

            question = _question(request, list(files))
            instruction = how.replace("STEM", stem)
            # The question is the last file, so that its pictures exist when a person finds the question.
            files[f"{stem}{suffix}"] = f"{room}{mark}\n{instruction}\n\n{question}\n{_END}"
            if self._create_files(files):
                return self._folder / f"{stem}{suffix}"

    def _find_question(self, suffix: str, mark: str) -> tuple[Path | None, int]:
        """Return the existing file of a question, and the highest number of a file in the folder.

        If the file is missing, return None in its place. Files of answers count too, because the file of an answered
        question may be gone.
        """
        last_number = 0
        for path in sorted(self._folder.glob("[0-9]*-*")):
            numbered = _NUMBERED.fullmatch(path.name)
            if numbered:
                last_number = max(last_number, int(numbered[1]))
                if path.name.endswith(suffix) and _contains(path, mark):
                    return path, last_number
        return None, last_number

    def _create_files(self, files: Mapping[str, bytes | str]) -> bool:
        """Create files by name, in order; if another process has taken a name, stop and return False."""
        return all(_create_file(self._folder / name, content) for name, content in files.items())


def _drafts() -> Path:
    """Return the folder with the questions for the editor, in the state folder of the user."""
    state_home = os.environ.get("XDG_STATE_HOME", "")
    try:
        state = Path(state_home) if state_home.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise ProviderConfigError(f"human/{EDITOR}: you have no home folder: set XDG_STATE_HOME to a folder") from error
    return state / "spca" / "answers"


def _find_editor() -> list[str]:
    """Return the command of the editor, as words.

    Raises:
        ProviderConfigError: no editor is set, or its program is missing; names the fix.
    """
    variable = "VISUAL" if os.environ.get("VISUAL", "").strip() else "EDITOR"
    command = os.environ.get(variable, "")
    fix = "give one such as EDITOR=nano, or take human/FOLDER, which waits for files"
    try:
        words = shlex.split(command)
    except ValueError as error:
        fault = f"{variable}={command} is no command ({error})"
        raise ProviderConfigError(f"human/{EDITOR}: {fault}: {fix}") from error
    if not words:
        raise ProviderConfigError(f"human/{EDITOR}: neither VISUAL nor EDITOR is set: {fix}")
    program = words[0]
    if shutil.which(program) is None:
        raise ProviderConfigError(f"human/{EDITOR}: there is no program {program} ({variable}): {fix}")
    return words


def _run_editor(command: Sequence[str]) -> int:
    """Run the editor to its end and return its exit code; signals of the keyboard reach the editor only."""
    is_main_thread = threading.current_thread() is threading.main_thread()
    signals = (signal.SIGINT, signal.SIGQUIT) if is_main_thread else ()  # only the main thread may set handlers
    # The handlers do nothing. SIG_IGN would not do, because the editor would inherit SIG_IGN.
    handlers_before = {number: signal.signal(number, lambda _number, _frame: None) for number in signals}
    try:
        return subprocess.run(command, check=False).returncode
    except OSError as error:
        fault = f"cannot start {command[0]}: {error.strerror}"
        raise ProviderConfigError(f"human/{EDITOR}: {fault}") from error
    finally:
        for number, handler in handlers_before.items():
            signal.signal(number, handler)


def _mark(request: Request) -> str:
    """Return the line that identifies a question: a digest of the question, so no question contains its own line."""
    return f"<!-- 8< {prompt_key(request)[:32]}-{request.occurrence} -->"


def _question(request: Request, pictures: Sequence[str]) -> str:
    """Return the text for the person: the form of the answer, then the conversation.

    Args:
        pictures: names of the picture files, in the order of the images in the conversation.
    """
    parts = [_form(request)]
    names = iter(pictures)
    for message in request.messages:
        parts.append(f"# {message.role}\n\n{visible(message.text)}")
        parts += [f"(picture: {next(names)})" for _ in message.images]
    return "\n\n".join(filter(None, parts))


def _form(request: Request) -> str:
    """Return a description of the form of the answer, "" for free text."""
    if request.schema is not None:
        return f"{schemas.describe_form(request.schema)}\nLine breaks within its strings may be written as they are."
    if not request.tools:
        return ""
    choices = {"auto": "You may call a tool, or answer in words.", "required": "Call one of the tools."}
    choice = choices.get(request.tool_choice, f"Call the tool {request.tool_choice}.")
    lines = []
    for tool in request.tools:
        schema = json.dumps(schemas.json_schema(tool.parameters))
        lines.append(f"- {tool.name}: {tool.description} {schema}")
    tools = "\n".join(lines)
    return f'{choice} A call is one JSON object, {{"tool": "NAME", "arguments": {{...}}}}. The tools:\n{tools}'


def _find_call(text: str, tools: Sequence[Tool]) -> ToolCall | None:
    """Return the tool call in an answer, None if the answer contains no call or there are no tools."""
    if not tools:
        return None
    try:
        call = parse_answer(text, _Called)
    except BadAnswerError:
        return None
    return ToolCall(call.tool, call.arguments)


def _contains(path: Path, mark: str) -> bool:
    """Return whether a file contains a mark; compare bytes, because an editor may have changed the encoding."""
    try:
        return mark.encode() in read_bytes(path)
    except FileError:
        return False


def _create_file(path: Path, content: str | bytes) -> bool:
    """Create a file with its whole content at once; return False if a file of this name exists.

    The content is written to a temporary file, which is then linked to the name. Linking fails if the name is taken,
    whereas renaming would replace the existing file.
    """
    temporary = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        write_atomic(temporary, content)
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return True


def _state(path: Path) -> tuple[int, int, int] | None:
    """Return inode, size (bytes) and modification time (ns) of a file, None if the file is missing."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns
