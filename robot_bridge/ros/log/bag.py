"""Write and read a rosbag2 folder with one MCAP file.

A writer that was killed leaves a file without an end. The functions here can read this file up to the last full chunk.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, cast
from zlib import crc32

from robot_bridge.errors import RecordingError, SetupError
from robot_bridge.ros import topics, types
from robot_bridge.ros.messages import nanoseconds
from spca.common.errors import FileError
from spca.common.files import open_to_read, replace_file

_MAGIC: Final = b"\x89MCAP0\r\n"
_FOOTER: Final = b"\x02\x14" + bytes(7)
_FOOTER_SIZE: Final = 29
_FOOTER_FIELDS: Final = struct.Struct("<QQI")
"""Fields of the MCAP footer: start of the index (summary), start of the summary offsets, checksum."""
_AFTER_INDEX_SIZE: Final = 12
_CHUNK_SIZE: Final = 8192
"""Size of a chunk, bytes: the most that a killed writer loses. With sensors at 10 Hz, this is half a second."""
_LATCHED: Final = frozenset({topics.MAP, topics.TF_STATIC})
_FOREVER: Final = {"sec": 9223372036, "nsec": 854775807}


class BagWriter:
    """Writes messages into a new bag, in the order of the calls.

    Raises:
        SetupError: the folder ``path`` exists, or cannot be made.
    """

    def __init__(self, path: Path) -> None:
        from mcap.writer import Writer

        self.path = path
        try:
            path.mkdir(parents=True)
            self._file = (path / f"{path.name}.mcap").open("xb")
            self._writer: Any = Writer(self._file, chunk_size=_CHUNK_SIZE, enable_data_crcs=True)
            self._writer.start("ros2")
        except OSError as error:
            reason = "it exists" if isinstance(error, FileExistsError) else error.strerror
            raise SetupError(f"the log {path} cannot be written: {reason}; name another folder") from error
        self._channels: dict[str, int] = {}
        self._topics: dict[str, dict[str, Any]] = {}
        # Times of the first and the last message, nanoseconds, and the number of messages.
        self._first = 0
        self._last = -1
        self._count = 0

    def write(self, now: float, topic: str, message: Any) -> None:
        """Append a message; ``now`` is in seconds.

        The time of every message is at least a nanosecond after the time of the last message, so that readers keep the
        order of writing.
        """
        if topic not in self._channels:
            self._add_topic(topic, message.__msgtype__)
        self._last = max(self._last + 1, nanoseconds(now))
        self._first = self._first if self._count else self._last
        self._count += 1
        self._topics[topic]["message_count"] += 1
        data = types.encode(message)
        self._writer.add_message(self._channels[topic], self._last, data, self._last, sequence=self._count)

    def _add_topic(self, topic: str, name: str) -> None:
        """Register a topic with messages of the type ``name``."""
        store = types.typestore()
        qos = _qos(topic)
        definition, _ = store.generate_msgdef(name, ros_version=2)
        schema = self._writer.register_schema(name, "ros2msg", definition.encode())
        self._channels[topic] = self._writer.register_channel(topic, "cdr", schema, {"offered_qos_profiles": qos})
        metadata = {"name": topic, "type": name, "serialization_format": "cdr", "offered_qos_profiles": qos}
        metadata["type_description_hash"] = store.hash_rihs01(name)
        self._topics[topic] = {"topic_metadata": metadata, "message_count": 0}

    def flush(self) -> None:
        """Hand every chunk that is full to the operating system."""
        self._file.flush()

    def close(self) -> None:
        """Write the index and ``metadata.yaml``; may be called again."""
        if self._file.closed:
            return
        metadata = self._metadata()
        self._writer.add_metadata("rosbag2", {"serialized_metadata": json.dumps(metadata)})
        self._writer.finish()
        self._file.close()
        # The file is YAML, and JSON is a part of YAML.
        text = json.dumps({"rosbag2_bagfile_information": metadata}, indent=1)
        replace_file(self.path / "metadata.yaml", text.encode())

    def abort(self) -> None:
        """Close the file without writing an end; ignore errors of the disk."""
        with suppress(OSError):
            self._file.close()

    def _metadata(self) -> dict[str, Any]:
        """Return the contents of ``metadata.yaml``."""
        # Version 8 is the newest whose quality of service Humble can read.
        name = Path(self._file.name).name
        extent = {
            "duration": {"nanoseconds": max(0, self._last - self._first)},
            "starting_time": {"nanoseconds_since_epoch": self._first},
            "message_count": self._count,
        }
        return extent | {
            "version": 8,
            "storage_identifier": "mcap",
            "relative_file_paths": [name],
            "topics_with_message_count": list(self._topics.values()),
            "compression_format": "",
            "compression_mode": "",
            "files": [{"path": name} | extent],
            "custom_data": None,
            "ros_distro": "humble",
        }


def _qos(topic: str) -> str:
    """Return the quality of service of a topic as JSON.

    The quality is reliable. It is latched if late subscribers need the last message of the topic.
    """
    profile = {
        "history": 1,
        "depth": 10,
        "reliability": 1,
        "durability": 1 if topic in _LATCHED else 2,
        "deadline": _FOREVER,
        "lifespan": _FOREVER,
        "liveliness": 1,
        "liveliness_lease_duration": _FOREVER,
        "avoid_ros_namespace_conventions": False,
    }
    return json.dumps([profile])


def find(path: Path) -> Path:
    """Return the MCAP file of the bag ``path``, or of the only bag in the folder ``path``.

    ``path`` may also be the file itself.

    Raises:
        RecordingError: ``path`` does not exist, or contains no MCAP file or more than one.
    """
    # os.path returns False for a name that is too long; Path would raise.
    if os.path.isfile(path):
        return path
    if not os.path.isdir(path):
        raise RecordingError(f"{path} {'is not a log' if os.path.exists(path) else 'is not there'}")
    files = sorted(path.glob("*.mcap")) or sorted(path.glob("*/*.mcap"))
    if len(files) != 1:
        names = ", ".join(str(file) for file in files[:3])
        problem = f"holds several logs: {names}" if files else "holds no log (.mcap)"
        raise RecordingError(f"{path} {problem}")
    return files[0]


def is_complete(path: Path) -> bool:
    """Return whether the MCAP file has an end; if it has none, its writer was killed.

    Raises:
        RecordingError: the file cannot be read.
    """
    try:
        with open_to_read(path) as file:
            return _read_end(file).startswith(_FOOTER)
    except FileError as error:
        raise RecordingError(str(error)) from error
    except OSError as error:
        raise RecordingError(f"{path} cannot be read: {error.strerror}") from error


def _read_end(file: BinaryIO) -> bytes:
    """Return the footer and the magic at the end of the file, or b"" if the file does not end with a footer."""
    size = file.seek(0, 2)
    file.seek(max(0, size - len(_MAGIC) - _FOOTER_SIZE))
    end = file.read()
    return end if end.startswith(_FOOTER) and end.endswith(_MAGIC) else b""


def read(path: Path) -> Generator[tuple[str, int, Any], None, None]:
    """Yield (topic, nanoseconds, message) in the order of writing.

    If the file has no end, yield the messages up to the last complete record.

    Raises:
        RecordingError: the file is not a bag, or is damaged; all messages before the damage are yielded first.
    """
    has_end = is_complete(path)
    last = None
    with open_to_read(path) as file:
        records = _read_records(file, has_end)
        while True:
            try:
                record = next(records, None)
            except OSError as error:
                raise RecordingError(f"{path} cannot be read: {error.strerror}") from error
            except Exception as error:  # readers and decompressors raise all kinds of errors for damaged bytes
                was_writer_killed = isinstance(error, EOFError) and not has_end
                if was_writer_killed and file.tell() >= len(_MAGIC):
                    return
                if file.tell() <= len(_MAGIC):
                    raise RecordingError(f"{path} cannot be read: it is not an MCAP file") from error
                after = "" if last is None else f" after {last / 1e9:.2f} s"
                place = f"a checksum is wrong near byte {file.tell()}"
                raise RecordingError(f"{path} is damaged{after}: {place}") from error
            if record is None:
                return
            topic, kind, last, data = record
            try:
                message = types.decode(data, kind)
            except (ValueError, KeyError) as error:
                raise RecordingError(f"{path} cannot be read: {topic}: {error}") from error
            yield topic, last, message


def _read_records(file: BinaryIO, has_end: bool) -> Iterator[tuple[str, str, int, bytes]]:
    """Yield (topic, type, nanoseconds, bytes) of every message.

    The writer numbers the messages from 1, so that missing messages are noticed. The number 0 means that the writer did
    not count. If the file has an end, the checksum of the index is checked last.

    Raises:
        EOFError: the file ends within a record.
        Exception: the file is damaged.
    """
    from mcap.records import Channel, DataEnd, Message, Schema
    from mcap.stream_reader import StreamReader

    kinds: dict[int, str] = {}  # schema id: type
    channels: dict[int, tuple[str, str]] = {}  # channel id: (topic, type)
    count = 0
    end = _read_end(file)
    for record in StreamReader(cast(Any, _ExactReader(file)), validate_crcs=True).records:
        match record:
            case Schema(id=number, name=name):
                kinds[number] = name
            case Channel(id=number, topic=topic, schema_id=schema):
                channels[number] = topic, kinds[schema]
            case Message(channel_id=number, log_time=time, data=data, sequence=sequence):
                count += 1
                if sequence not in {0, count}:
                    raise ValueError("messages are missing")
                yield *channels[number], time, data
            case DataEnd():
                break
    if has_end:
        index_start, _, expected = _FOOTER_FIELDS.unpack_from(end, len(_FOOTER))
        index_end = file.seek(-_AFTER_INDEX_SIZE, 2)
        file.seek(index_start)
        checksum = crc32(file.read(max(0, index_end - index_start)))
        if expected not in {0, checksum}:  # 0 means that the writer computed no checksum
            raise ValueError("the index is damaged")


class _ExactReader:
    """A file whose ``read`` returns exactly the requested number of bytes or raises EOFError."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._size = file.seek(0, 2)
        file.seek(0)

    def read(self, length: int) -> bytes:
        if length > self._size - self._file.tell():
            raise EOFError
        return self._file.read(length)
