"""The message types of ROS 2 Humble: encoding, decoding, and the types that DDS needs.

The codec of rosbags encodes and decodes all messages, both on the wire and in logs. DDS types are made from the same
definitions. A type of :func:`dds_type` has the fields of the message, so that other participants can check the fields.
Its samples carry the encoded bytes unchanged. The tests compare this codec with a second codec, which cyclonedds
derives from the fields.
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
    """Return the message definitions of ROS 2 Humble."""
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def make(name: str, **fields: Any) -> Any:
    """Return a message of the type ``name``, such as "geometry_msgs/msg/Twist"."""
    return typestore().types[name](**fields)


def encode(message: Any) -> bytes:
    """Return a message as CDR bytes, little endian, with the CDR header."""
    return bytes(typestore().serialize_cdr(message, message.__msgtype__))


def decode(data: bytes, name: str) -> Any:
    """Return the message of type ``name`` decoded from its CDR bytes.

    Raises:
        ValueError: the bytes are not a message of this type.
    """
    from rosbags.serde import SerdeError

    try:
        return typestore().deserialize_cdr(data, name)
    except (SerdeError, ValueError, IndexError, OverflowError) as error:
        raise ValueError(f"not a {name}: {error}") from error


@lru_cache(maxsize=64)
def fields_type(name: str) -> Any:
    """Return the cyclonedds class with the fields of a message type; its name is the type's name on the wire."""
    from cyclonedds.idl import make_idl_struct

    package, _, short = name.split("/")
    fields = {field: _idl_type(description) for field, description in typestore().fielddefs[name][1]}
    return make_idl_struct(short, f"{package}::msg::dds_::{short}_", fields)


@lru_cache(maxsize=64)
def dds_type(name: str) -> Any:
    """Return a cyclonedds type for topics; a sample of the type holds ``data``, the encoded bytes of a message."""
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

    # Other participants compare the name and the layout, so Sample must carry the description of the fields class.
    Sample.__idl__ = fields.__idl__
    Sample.__idl_typename__ = fields.__idl_typename__
    return Sample


def _idl_type(description: Any) -> Any:
    """Return the cyclonedds type of a field, given the field's description (node type, value) by rosbags."""
    from cyclonedds.idl import types
    from rosbags.interfaces import Nodetype

    kind, value = description
    if kind == Nodetype.NAME:
        return fields_type(value)
    if kind == Nodetype.ARRAY:
        return types.array[_idl_type(value[0]), value[1]]  # type: ignore[misc]  # made by a class method
    if kind == Nodetype.SEQUENCE:
        return types.sequence[_idl_type(value[0])]  # type: ignore[misc]  # as above
    name = value[0]
    special = {"bool": bool, "string": str, "byte": types.uint8, "char": types.uint8}
    return special[name] if name in special else getattr(types, name)
