"""A rosbag2 folder with one MCAP file: written so that a killed writer leaves what can be read, and read although it
was killed."""

from __future__ import annotations

import os
import struct
from collections.abc import Generator
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Final

from robot_bridge.errors import RecordingError, SetupError
from robot_bridge.ros import topics, types
from robot_bridge.ros.log import checksums
from robot_bridge.ros.messages import nanoseconds
from spca.common.errors import FileError
from spca.common.files import opened

_MAGIC: Final = b"\x89MCAP0\r\n"
_FOOTER: Final = 0x02
_CHUNK: Final = 0x06
_DATA_END: Final = 0x0F
_HIGHEST_OPCODE: Final = 0x0F
_RECORD: Final = struct.Struct("<BQ")
_FOOTER_SIZE: Final = 29
_END: Final = _RECORD.pack(_DATA_END, 4) + bytes(4) + _RECORD.pack(_FOOTER, 20) + bytes(20) + _MAGIC
"""Of a file without index."""
_LATCHED: Final = frozenset({topics.MAP, topics.TF_STATIC})


class BagWriter:
    """Writes messages in the order in which they are given.

    Raises:
        SetupError: ``path`` exists, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer, WriterError

        self.path = path
        try:
            # Version 8 is the newest whose quality of service Humble can read.
            self._writer: Any = Writer(path, version=8, storage_plugin=StoragePlugin.MCAP)
            self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
            self._writer.open()
            checksums.sum_chunks(self._writer.storage)
        except (WriterError, OSError) as error:
            reason = getattr(error, "strerror", None) or "it exists"
            raise SetupError(f"the log {path} cannot be written: {reason}; name another folder") from None
        self._connections: dict[str, Any] = {}
        self._last = -1

    def write(self, now: float, topic: str, message: Any) -> None:
        """Append a message; times grow by at least a nanosecond, so that the order of reading is that of writing."""
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic, message.__msgtype__, typestore=types.typestore(), offered_qos_profiles=_qos(topic)
            )
        self._last = max(self._last + 1, nanoseconds(now))
        self._writer.write(self._connections[topic], self._last, types.encode(message))

    def flush(self) -> None:
        """Hand everything to the operating system, as a chunk that is complete in itself."""
        storage = self._writer.storage
        if storage is not None and storage.chunk.msgs:
            storage.close_chunk()
            storage.bio.flush()

    def close(self) -> None:
        """Write the index, ``metadata.yaml`` and the checksums; may be called again."""
        if self._writer.storage is not None:
            file = self._writer.storage.path
            self._writer.close()
            checksums.seal(file)

    def abort(self) -> None:
        """Write nothing more, whatever the disk says to that."""
        if self._writer.storage is not None:
            with suppress(OSError):
                self._writer.abort()


def _qos(topic: str) -> list[Any]:
    """Reliable; latched where whoever comes later wants the last message too."""
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    durability = QosDurability.TRANSIENT_LOCAL if topic in _LATCHED else QosDurability.VOLATILE
    forever = QosTime(9223372036, 854775807)
    return [
        Qos(
            QosHistory.KEEP_LAST, 10, QosReliability.RELIABLE, durability, forever, forever, QosLiveliness.AUTOMATIC,
            forever, False,
        )
    ]  # fmt: skip


def find(path: Path) -> Path:
    """The MCAP file of a bag, or of a folder that holds one bag.

    Raises:
        RecordingError: there is none, or there are several.
    """
    # os.path, because Path raises where a name is too long.
    if os.path.isfile(path):
        return path
    if not os.path.isdir(path):
        raise RecordingError(f"{path} {'is not a log' if os.path.exists(path) else 'is not there'}")
    found = sorted(path.glob("*.mcap")) or sorted(path.glob("*/*.mcap"))
    if len(found) != 1:
        names = ", ".join(str(each) for each in found[:3])
        what = f"holds several logs: {names}" if found else "holds no log (.mcap)"
        raise RecordingError(f"{path} {what}")
    return found[0]


def is_complete(path: Path) -> bool:
    """Whether its writer came to its end.

    Raises:
        RecordingError: it cannot be read.
    """
    try:
        with opened(path) as file:
            file.seek(0, 2)
            file.seek(max(0, file.tell() - len(_MAGIC) - _FOOTER_SIZE))
            end = file.read()
    except FileError as error:
        raise RecordingError(str(error)) from None
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from None
    return end.endswith(_MAGIC) and end[:1] == bytes([_FOOTER])


def read(path: Path) -> Generator[tuple[str, int, Any], None, None]:
    """Topic, nanoseconds and message, in the order of writing, up to where the file is whole.

    Raises:
        RecordingError: it is no bag; or damaged, which is told after what comes before the damage.
    """
    from rosbags.rosbag2 import Reader

    is_ended, last = is_complete(path), None
    try:
        cut = None if is_ended and checksums.hold(path) else _Cut(path)
        source: Any = cut or path
        with Reader(source) as reader:
            for connection, time, data in reader.messages():
                message, last = types.decode(data, connection.msgtype), time
                yield connection.topic, time, message
    except Exception as error:  # whatever the reader of others makes of damaged bytes
        raise RecordingError(f"{path} cannot be read: {' '.join(str(error).split())}") from None
    if cut is not None and (is_ended or cut.is_damaged):
        after = "" if last is None else f" after {last / 1e9:.2f} s"
        raise RecordingError(f"{path} is damaged{after}: a checksum is wrong near byte {cut.end}")


class _Cut:
    """A path to what is whole of a file whose writer was killed, or that is damaged, ended as a reader wants it.

    Attributes:
        end: how many of its bytes are whole.
        is_damaged: whether what follows is there, and wrong.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.suffix, self.stem = path.suffix, path.stem
        with path.open("rb") as file:
            self.end, self.is_damaged = whole(file)

    def exists(self) -> bool:
        return self._path.exists()

    def is_dir(self) -> bool:
        return False

    def open(self, *_: object, **__: object) -> BinaryIO:
        """All of it in memory."""
        with self._path.open("rb") as file:
            return BytesIO(file.read(self.end) + _END)


def whole(file: BinaryIO) -> tuple[int, bool]:
    """How many bytes there are before the first record that is not complete, or the end of the data; and whether that
    record is there but damaged."""
    size = file.seek(0, 2)
    end = len(_MAGIC)
    while True:
        file.seek(end)
        head = file.read(_RECORD.size)
        if len(head) < _RECORD.size:
            return min(end, size), False
        opcode, length = _RECORD.unpack(head)
        is_data = 0 < opcode < _HIGHEST_OPCODE and opcode != _FOOTER
        if not is_data or end + _RECORD.size + length > size:
            return min(end, size), False
        if opcode == _CHUNK and not checksums.is_whole(file.read(length)):
            return end, True
        end += _RECORD.size + length
