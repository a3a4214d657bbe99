"""Files: written whole, lines appended in one piece, torn ends cut off."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import FileError, SettingsError
from spca.common.files import read_whole_lines, remove_torn_files, whole_lines, write_atomic, write_line
from tests.support.spca.doubles import ROOT


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "old")
    write_atomic(path, "nëw")
    assert path.read_text(encoding="utf-8") == "nëw"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.long
def test_a_reader_never_sees_a_part(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_atomic(path, "x")
    code = (
        "import sys; from pathlib import Path; from spca.common.files import write_atomic\n"
        "for n in range(60): write_atomic(Path(sys.argv[1]), 'xy'[n % 2] * 1_000_000)"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT) as writer:
        while writer.poll() is None:
            assert len(path.read_text().strip("x").strip("y")) == 0
            assert len(path.read_text()) in (1, 1_000_000)
    assert writer.returncode == 0


def test_a_file_that_cannot_be_written_is_a_users_mistake(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(SettingsError, match=r"cannot write .*folder: Is a directory"):
        write_atomic(tmp_path / "folder", "text")


def test_a_link_in_the_folder_leads_nowhere(tmp_path: Path) -> None:
    """Run folders come from strangers too: whoever made one chose what lies in it under the names to be written."""
    (tmp_path / "mine").write_text("mine")
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs" / "a.html").symlink_to(tmp_path / "mine")
    write_atomic(tmp_path / "theirs" / "a.html", "text")
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / "theirs" / "a.html").is_symlink()
    assert os.listdir(tmp_path / "theirs") == ["a.html"]


def test_two_who_write_at_once_both_write_the_whole(tmp_path: Path) -> None:
    def write(letter: str) -> None:
        for _ in range(40):
            write_atomic(tmp_path / "a.html", letter * 100_000)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "xy"))
    assert (tmp_path / "a.html").read_text() in ("x" * 100_000, "y" * 100_000)
    assert os.listdir(tmp_path) == ["a.html"]


def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "device")
    with pytest.raises(SettingsError, match=r"cannot write .*device: it is no regular file"):
        write_atomic(tmp_path / "device", "text")
    assert os.listdir(tmp_path) == ["device"]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path: Path) -> None:
    write_atomic(tmp_path / ("a" * 255), "text")
    assert (tmp_path / ("a" * 255)).read_text() == "text"


def test_lines_are_appended_or_replace_the_file(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "a.jsonl"
    write_line(path, "ä")
    write_line(path, "b")
    assert path.read_bytes() == "ä\nb\n".encode()
    write_line(path, "c", os.O_TRUNC)
    assert path.read_bytes() == b"c\n"


def test_a_line_for_which_there_is_no_room_is_one_error(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("/dev/full")
    with pytest.raises(SettingsError, match=r"cannot write .*/a: No space left on device$"):
        write_line(tmp_path / "a", "text")


@pytest.mark.parametrize(
    ("data", "lines"),
    [
        (b"", []),
        (b"torn", []),
        (b"a\n", [b"a"]),
        (b"a\nb\x00", [b"a"]),
        (b"a\rb\n\nc\n{", [b"a\rb", b"", b"c"]),
    ],
)
def test_a_torn_last_line_is_cut_off(tmp_path: Path, data: bytes, lines: list[bytes]) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(data)
    assert whole_lines(path) == lines
    assert path.read_bytes() == b"".join(line + b"\n" for line in lines)


def test_lines_of_no_file_are_none_and_of_a_folder_an_error(tmp_path: Path) -> None:
    assert whole_lines(tmp_path / "a.jsonl") == []
    with pytest.raises(FileError, match=f"^{tmp_path} cannot be read: Is a directory$"):
        whole_lines(tmp_path)


def test_what_a_killed_write_has_left_is_removed_and_nothing_else(tmp_path: Path) -> None:
    code = (
        "import os, sys, signal; from pathlib import Path; from spca.common import files\n"
        "files.os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)\n"
        "files.write_atomic(Path(sys.argv[1]), 'text')"
    )
    (tmp_path / "state").mkdir()
    for path in (tmp_path / "a.json", tmp_path / "state/b.json"):
        path.write_text("old")
        done = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=False)
        assert done.returncode == -signal.SIGKILL
    kept = [".mine.tmp", ".0123456789abcdef.tmpx", "0123456789abcdef.tmp", "state/x.tmp"]
    for name in kept:
        (tmp_path / name).touch()
    assert len(list(tmp_path.rglob("*.tmp"))) == len(kept) - 1 + 2
    remove_torn_files(tmp_path)
    found = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert found == {"a.json", "state/b.json", *kept}


@given(st.binary(max_size=60).map(lambda data: data.replace(b"x", b"\n")))
def test_lines_are_read_one_by_one_as_they_are_read_at_once(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    for name in ("a", "b"):
        (folder / name).write_bytes(data)
    assert list(read_whole_lines(folder / "a")) == whole_lines(folder / "b")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert list(read_whole_lines(folder / "none")) == []
