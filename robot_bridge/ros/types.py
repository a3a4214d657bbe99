"""The message types of ROS 2 Humble: their bytes, and what DDS has to know of them.

Messages are encoded and decoded by the codec of rosbags, on the wire as in a log. DDS types are made from the same
definitions: :func:`dds_type` has the fields, so that other participants can check them, while a sample carries the
bytes as they are. The codec that cyclonedds derives from the fields is the independent second one of the tests.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rosbags.typesys.store import Typestore

BOOL = "std_msgs/msg/Bool"
FLOAT32 = "std_msgs/msg/Float32"
STRING = "std_msgs/msg/String"
TWIST = "geometry_msgs/msg/Twist"
POSE_STAMPED = "geometry_msgs/msg/PoseStamped"
SCAN = "sensor_msgs/msg/LaserScan"
IMAGE = "sensor_msgs/msg/Image"
COMPRESSED_IMAGE = "sensor_msgs/msg/CompressedImage"
CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
IMU = "sensor_msgs/msg/Imu"
ODOMETRY = "nav_msgs/msg/Odometry"
OCCUPANCY_GRID = "nav_msgs/msg/OccupancyGrid"
TF = "tf2_msgs/msg/TFMessage"


@lru_cache(maxsize=1)
def typestore() -> Typestore:
    """Return the definitions of Humble."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def make(name: str, **fields: Any) -> Any:
    """Return a message of the type ``name`` ("geometry_msgs/msg/Twist")."""
    return typestore().types[name](**fields)


def encode(message: Any) -> bytes:
    """Return a message as CDR bytes with their header, little endian."""
    return bytes(typestore().serialize_cdr(message, message.__msgtype__))


def decode(data: bytes, name: str) -> Any:
    """Return the message decoded from its bytes.

    Raises:
        ValueError: the bytes are not a message of that type.
    """
    from rosbags.serde import SerdeError

    try:
        return typestore().deserialize_cdr(data, name)
    except (SerdeError, ValueError, IndexError, OverflowError) as error:
        raise ValueError(f"not a {name}: {error}") from error


@lru_cache(maxsize=64)
def fields_type(name: str) -> Any:
    """Return the class of cyclonedds with the fields of a type, under the name that ROS gives it on the wire."""
    from cyclonedds.idl import make_idl_struct

    package, _, short = name.split("/")
    fields = {field: _idl(description) for field, description in typestore().fielddefs[name][1]}
    return make_idl_struct(short, f"{package}::msg::dds_::{short}_", fields)


@lru_cache(maxsize=64)
def dds_type(name: str) -> Any:
    """Return a type for topics of cyclonedds whose samples hold ``data``, the bytes of a message."""
    fields = fields_type(name)

    class Sample(fields):  # type: ignore[misc,valid-type]  # a base made at run time
        """Bytes of one message."""

        def __init__(self, data: bytes) -> None:
            self.data = data

        def serialize(self, **_: object) -> bytes:
            return self.data

        @classmethod
        def deserialize(cls, data: bytes, **_: object) -> Sample:
            return cls(bytes(data))

        @classmethod
        def deserialize_key(cls, data: bytes, **_: object) -> Sample:
            return cls(bytes(data))

    # Not its own description but that of the fields: the name and the layout are what the others compare.
    Sample.__idl__ = fields.__idl__
    Sample.__idl_typename__ = fields.__idl_typename__
    return Sample


def _idl(description: Any) -> Any:
    from cyclonedds.idl import types
    from rosbags.interfaces import Nodetype

    kind, value = description
    if kind == Nodetype.NAME:
        return fields_type(value)
    if kind == Nodetype.ARRAY:
        return types.array[_idl(value[0]), value[1]]  # type: ignore[misc]  # made by a class method
    if kind == Nodetype.SEQUENCE:
        return types.sequence[_idl(value[0])]  # type: ignore[misc]  # as above
    plain = {"bool": bool, "string": str, "byte": types.uint8, "char": types.uint8}
    return plain.get(value[0]) or getattr(types, value[0])
