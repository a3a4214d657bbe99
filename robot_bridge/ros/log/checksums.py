"""The checksums of an MCAP file: rosbags checks those of chunks and writes none (0); a log of ours has all of them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any, BinaryIO, Final
from zlib import crc32

_CHUNK_SUM: Final = 33
"""Where a chunk's checksum stands: after opcode, length, two times and the size."""
_CHUNK_HEAD: Final = struct.Struct("<QQQI")
_LENGTH: Final = struct.Struct("<I")
_SIZE: Final = struct.Struct("<Q")
_SUM: Final = struct.Struct("<I")
_DATA_END: Final = struct.Struct("<BQI")
_TAIL: Final = struct.Struct("<BQQQI8s")
"""The footer: where the index begins, where its offsets begin, its checksum; then the magic."""
_AFTER_SUM: Final = 12
_PIECE: Final = 1 << 20


def sum_chunks(storage: Any) -> None:
    """Have a storage of rosbags write every chunk with its checksum."""
    close = storage.close_chunk

    def close_chunk() -> None:
        begin, checksum = storage.bio.tell(), crc32(storage.chunk.bio.getvalue())
        close()
        end = storage.bio.tell()
        storage.bio.seek(begin + _CHUNK_SUM)
        storage.bio.write(_SUM.pack(checksum))
        storage.bio.seek(end)

    storage.close_chunk = close_chunk


def seal(path: Path) -> None:
    """Write the checksums of the data and of the index into a file that is complete."""
    with path.open("r+b") as file:
        size, begin, _ = _footer(file)
        file.seek(begin - _SUM.size)
        file.write(_SUM.pack(_crc(file, 0, begin - _DATA_END.size)))
        file.seek(size - _AFTER_SUM)
        file.write(_SUM.pack(_crc(file, begin, size - _AFTER_SUM)))


def hold(path: Path) -> bool:
    """Whether the checksums of data and index are right; those of a complete file that has none are."""
    with path.open("rb") as file:
        size, begin, index = _footer(file)
        if begin == 0:
            return True
        if not _DATA_END.size <= begin <= size - _TAIL.size:
            return False
        file.seek(begin - _SUM.size)
        (data,) = _SUM.unpack(file.read(_SUM.size))
        return index in {0, _crc(file, begin, size - _AFTER_SUM)} and data in {0, _crc(file, 0, begin - _DATA_END.size)}


def is_whole(chunk: bytes) -> bool:
    """Whether what a chunk's record holds can be unpacked and is what was packed."""
    from rosbags.rosbag2.storage_mcap import decompress

    try:
        _, _, size, checksum = _CHUNK_HEAD.unpack_from(chunk)
        (length,) = _LENGTH.unpack_from(chunk, _CHUNK_HEAD.size)
        packed = _CHUNK_HEAD.size + _LENGTH.size + length
        compression = chunk[packed - length : packed].decode()
        (packed_size,) = _SIZE.unpack_from(chunk, packed)
        packed += _SIZE.size
        decompress(chunk[packed : packed + packed_size], compression, size, checksum)
    except Exception:  # whatever decompressors make of damaged bytes
        return False
    return True


def _footer(file: BinaryIO) -> tuple[int, int, int]:
    """The size of a file, where its index begins (0: it has none), and the checksum of that (0: none)."""
    size = file.seek(0, 2)
    file.seek(size - _TAIL.size)
    _, _, begin, _, index, _ = _TAIL.unpack(file.read(_TAIL.size))
    return size, begin, index


def _crc(file: BinaryIO, begin: int, end: int) -> int:
    """Of the bytes in between; the place in the file is left as it was."""
    place, found = file.tell(), 0
    file.seek(begin)
    for start in range(begin, end, _PIECE):
        found = crc32(file.read(min(_PIECE, end - start)), found)
    file.seek(place)
    return found
