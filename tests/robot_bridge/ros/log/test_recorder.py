"""A log tells again what it was told, independent readers can read it, and killing its writer costs a second."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.reader import make_reader
from mcap.records import Chunk, DataEnd, Footer, Message
from mcap.stream_reader import StreamReader
from mcap_ros2.decoder import DecoderFactory
from rosbags.rosbag2 import Reader, StoragePlugin, Writer

from robot_bridge.config import RobotConfig
from robot_bridge.contracts import Twist
from robot_bridge.errors import RecordingError, SetupError
from robot_bridge.ros import images, messages, types
from robot_bridge.ros.log import bag
from robot_bridge.ros.log.playback import read_log
from robot_bridge.ros.log.recorder import BagRecorder
from robot_bridge.ros.topics import LOGGED_DEPTH, LOGGED_IMAGE
from tests.support.robot_bridge.recorded_run import Heard, frame, tell

CONFIG = RobotConfig(control_rate=10.0)
ROOT = Path(__file__).resolve().parents[4]


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole one."""
    path = tmp_path_factory.mktemp("logs") / "bag"
    recorder = BagRecorder(path, CONFIG)
    tell(recorder)
    recorder.close()
    recorder.close()
    return path


@pytest.fixture(scope="module")
def said() -> list[str]:
    """What it must tell."""
    heard = Heard()
    tell(heard)
    return heard.lines


def decoded(log: Path, topic: str | None = None) -> list[Any]:
    """Schema, channel, message and its content, by the readers of Foxglove."""
    with bag.find(log).open("rb") as file:
        return list(make_reader(file, decoder_factories=[DecoderFactory()]).iter_decoded_messages(topic))


def test_a_log_tells_what_it_was_told(log: Path, said: list[str]) -> None:
    heard, found = Heard(), read_log(log)
    found.tell(heard)
    assert (found.config, found.is_complete) == (CONFIG, True)
    assert heard.lines == said
    assert [s is heard.scans[0] for s in heard.scans[:3]] == [True, False, False]
    assert heard.scans[1] is heard.scans[2]


def test_pictures_are_in_the_log(log: Path) -> None:
    found: dict[str, list[Any]] = {}
    for topic, _, message in bag.read(bag.find(log)):
        found.setdefault(topic, []).append(message)
    pictures = [images.picture(each.data.tobytes()) for each in found[LOGGED_IMAGE]]
    depths = [images.depth(each.data.tobytes()) for each in found[LOGGED_DEPTH]]
    told = frame(0.0)
    assert [round(float(each.mean())) for each in pictures] == [round(float(told.rgb.mean()))] * 4
    assert [round(float(each.mean()), 2) for each in depths] == [round(float(told.depth.mean()), 2)] * 4


def test_an_independent_reader_finds_messages_of_ros(log: Path) -> None:
    found = decoded(log)
    topics = {each.channel.topic: each.schema.name for each in found}
    assert topics == {
        "/scan": "sensor_msgs/msg/LaserScan",
        "/odom": "nav_msgs/msg/Odometry",
        "/cmd_vel": "geometry_msgs/msg/Twist",
        "/voltage": "std_msgs/msg/Float32",
        "/camera/image/compressed": "sensor_msgs/msg/CompressedImage",
        "/camera/depth/compressedDepth": "sensor_msgs/msg/CompressedImage",
        "/map": "nav_msgs/msg/OccupancyGrid",
        "/tf": "tf2_msgs/msg/TFMessage",
        "/tf_static": "tf2_msgs/msg/TFMessage",
        "/goal_pose": "geometry_msgs/msg/PoseStamped",
        **dict.fromkeys(
            [f"/spca/{name}" for name in ("decisions", "safety", "estimates", "observations", "notes")],
            "std_msgs/msg/String",
        ),
    }
    times = [each.message.log_time for each in found]
    assert times[0] == pytest.approx(0.3e9), "a log begins with its run"
    assert times == sorted(set(times))
    scans = [each.decoded_message for each in found if each.channel.topic == "/scan"]
    assert len(scans) == 40
    assert scans[3].header.stamp.nanosec == pytest.approx(0.62e9, abs=2)
    images = [each.decoded_message for each in found if each.channel.topic == "/camera/image/compressed"]
    assert bytes(images[0].data[:3]) == b"\xff\xd8\xff"


def test_frames_hang_together(log: Path) -> None:
    """map -> odom -> base_link is the estimate."""
    found = [each.decoded_message.transforms for each in decoded(log, "/tf")]
    (drift, moved) = found[10]
    assert [drift.header.frame_id, drift.child_frame_id, moved.child_frame_id] == ["map", "odom", "base_link"]
    assert drift.transform.translation.x + moved.transform.translation.x == pytest.approx(1.0)
    assert drift.transform.translation.y + moved.transform.translation.y == pytest.approx(0.25)


def test_metadata_are_those_of_humble(log: Path) -> None:
    import yaml

    found = yaml.safe_load((log / "metadata.yaml").read_text(encoding="utf-8"))["rosbag2_bagfile_information"]
    assert (found["version"], found["storage_identifier"]) == (8, "mcap")
    topics = {each["topic_metadata"]["name"]: each["message_count"] for each in found["topics_with_message_count"]}
    assert (topics["/scan"], topics["/odom"], topics["/map"]) == (40, 80, 1)


@pytest.mark.long
def test_a_killed_run_can_be_read_up_to_its_last_second(tmp_path: Path) -> None:
    """The writer is killed at an arbitrary moment; it tells a run of 10 ticks a second as fast as it can."""
    code = (
        "import sys; from pathlib import Path; from robot_bridge.config import RobotConfig;"
        "from robot_bridge.ros.log.recorder import BagRecorder;"
        "from tests.support.robot_bridge.recorded_run import tell;"
        "recorder = BagRecorder(Path(sys.argv[1]), RobotConfig(control_rate=10.0));"
        "print('began', flush=True); tell(recorder, 10**6, 0.1)"
    )
    path = tmp_path / "bag"
    with subprocess.Popen([sys.executable, "-c", code, str(path)], cwd=ROOT, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        end = time.monotonic() + 30
        while bag.find(path).stat().st_size < 60_000 and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(writer.pid, signal.SIGKILL)
    said, heard, found = Heard(), Heard(), read_log(path)
    found.tell(heard)
    tell(said, len(heard.scans), 0.1)
    assert not found.is_complete
    assert len(heard.scans) >= 10
    assert heard.lines == said.lines[: len(heard.lines)]
    assert messages_before_the_cut(bag.find(path)) > len(heard.lines), "an independent reader gets as far"


def messages_before_the_cut(path: Path) -> int:
    """Counted by the reader of the mcap package."""
    count = 0
    with path.open("rb") as file, contextlib.suppress(McapError):
        for record in StreamReader(file).records:
            count += isinstance(record, Message)
    return count


@settings(max_examples=20)
@given(data=st.data())
def test_a_log_that_was_cut_anywhere_tells_the_beginning(
    log: Path, said: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    whole = bag.find(log).read_bytes()
    cut = tmp_path_factory.mktemp("cut") / "cut.mcap"
    cut.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))] + bytes(data.draw(st.integers(0, 3))))
    heard, refusal = Heard(), ""
    try:
        read_log(cut).tell(heard)
    except RecordingError as error:
        refusal = str(error)
    assert "\n" not in refusal
    assert heard.lines == said[: len(heard.lines)]


@settings(max_examples=20)
@given(data=st.data())
def test_bytes_that_were_overwritten_are_found_and_only_what_comes_before_is_told(
    log: Path, said: list[str], data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    damaged = bytearray(bag.find(log).read_bytes())
    place = data.draw(st.integers(0, len(damaged) - 16))
    for index, change in enumerate(data.draw(st.binary(min_size=16, max_size=16).filter(any))):
        damaged[place + index] ^= change
    path = tmp_path_factory.mktemp("damaged") / "damaged.mcap"
    path.write_bytes(damaged)
    heard, refusal = Heard(), ""
    try:
        found = read_log(path)
        found.tell(heard)
    except RecordingError as error:
        refusal = str(error)
    else:
        assert not found.is_complete, "its end was overwritten: it counts as killed"
    assert "\n" not in refusal
    assert heard.lines == said[: len(heard.lines)]


@pytest.mark.parametrize("is_killed", [False, True])
def test_where_a_log_is_damaged_is_told(log: Path, tmp_path: Path, is_killed: bool) -> None:
    content = bytearray(bag.find(log).read_bytes())
    if is_killed:
        del content[content.rindex(bytes([Opcode.DATA_END, 4, *bytes(7)])) :]
    places = chunk_places(bytes(content))
    middle = places[len(places) // 2] + 100
    content[middle : middle + 16] = bytes(16)
    path = tmp_path / "damaged.mcap"
    path.write_bytes(content)
    heard = Heard()
    with pytest.raises(
        RecordingError, match=r"damaged\.mcap is damaged after \d+\.\d\d s: a checksum is wrong near byte "
    ):
        read_log(path).tell(heard)
    assert 10 < len(heard.scans) < 70


def test_an_independent_reader_finds_every_checksum_right(log: Path) -> None:
    with bag.find(log).open("rb") as file:
        records = list(StreamReader(file, emit_chunks=True, validate_crcs=True).records)
    sums = [each.uncompressed_crc for each in records if isinstance(each, Chunk)]
    sums += [each.data_section_crc for each in records if isinstance(each, DataEnd)]
    sums += [each.summary_crc for each in records if isinstance(each, Footer)]
    assert len(sums) >= 5
    assert all(sums)
    content = bag.find(log).read_bytes()
    index = content[content.rindex(bytes([Opcode.DATA_END, 4, *bytes(7)])) + 13 : -12]
    assert crc32(index) == sums[-1]
    assert len(decoded(log)) == sum(isinstance(each, Message) for each in read_by_stream(log))


def read_by_stream(log: Path) -> list[Any]:
    """Every record, its checksums checked."""
    with bag.find(log).open("rb") as file:
        return list(StreamReader(file, validate_crcs=True).records)


def test_a_log_without_checksums_is_read(log: Path, said: list[str], tmp_path: Path) -> None:
    """Such as rosbags, and this program once, wrote: it does not number messages either."""
    with Writer(tmp_path / "bag", version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        connections: dict[str, Any] = {}
        for topic, time, message in bag.read(bag.find(log)):
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, message.__msgtype__, typestore=types.typestore())
            writer.write(connections[topic], time, types.encode(message))
    heard = Heard()
    read_log(tmp_path).tell(heard)
    assert heard.lines == said


def test_another_reader_of_bags_finds_every_message(log: Path) -> None:
    """rosbags reads ``metadata.yaml`` and the index."""
    with Reader(log) as reader:
        found = [(connection.topic, time) for connection, time, _ in reader.messages()]
        connections: list[Any] = reader.connections
        latched = [c.topic for c in connections if c.ext.offered_qos_profiles[0].durability.value == 1]
    assert found == [(topic, time) for topic, time, _ in bag.read(bag.find(log))]
    assert sorted(latched) == ["/map", "/tf_static"]


def test_messages_that_were_cut_out_are_missed(log: Path, said: list[str], tmp_path: Path) -> None:
    """Every chunk that is left is whole, and there is no checksum of all."""
    content = bag.find(log).read_bytes()
    chunks = chunk_places(content)
    path = tmp_path / "cut.mcap"
    path.write_bytes(content[: chunks[3]] + content[chunks[5] : chunks[-1]])
    heard = Heard()
    with pytest.raises(RecordingError, match=r"cut\.mcap is damaged after"):
        read_log(path).tell(heard)
    assert heard.lines
    assert heard.lines == said[: len(heard.lines)]


def chunk_places(content: bytes) -> list[int]:
    """Where each begins."""
    found, place = [], 8
    while place < len(content) and content[place] != Opcode.DATA_END:
        if content[place] == Opcode.CHUNK:
            found.append(place)
        place += 9 + int.from_bytes(content[place + 1 : place + 9], "little")
    return found


def test_what_is_no_log_is_an_error_of_one_line(tmp_path: Path, log: Path) -> None:
    with pytest.raises(RecordingError, match="is not there"):
        read_log(tmp_path / "nothing")
    with pytest.raises(RecordingError, match="holds no log"):
        read_log(tmp_path)
    (tmp_path / "a.mcap").write_bytes(b"text")
    with pytest.raises(RecordingError, match=r"a\.mcap cannot be read"):
        read_log(tmp_path)
    other = bag.BagWriter(tmp_path / "other")
    other.write(0.0, "/spca/notes", messages.text_message("{}"))
    other.close()
    with pytest.raises(RecordingError, match="not a log of this program"):
        read_log(tmp_path / "other")
    odd = bag.BagWriter(tmp_path / "odd")
    odd.write(0.0, "/spca/notes", messages.twist_message(Twist()))
    odd.close()
    with pytest.raises(RecordingError, match="a record that cannot be read"):
        read_log(tmp_path / "odd")
    (tmp_path / "b.mcap").touch()
    with pytest.raises(RecordingError, match="holds several logs"):
        read_log(tmp_path)
    assert read_log(log.parent).path == bag.find(log)


def test_a_run_in_which_nothing_happened_has_a_log(tmp_path: Path) -> None:
    BagRecorder(tmp_path / "bag", CONFIG).close()
    heard, found = Heard(), read_log(tmp_path)
    found.tell(heard)
    assert (found.config, heard.lines) == (CONFIG, [])


def test_a_log_is_never_overwritten(log: Path) -> None:
    with pytest.raises(SetupError, match="it exists; name another folder"):
        BagRecorder(log, CONFIG)


def test_a_full_disk_ends_the_log_and_not_the_run(tmp_path: Path) -> None:
    """A limit on the size of files stands for the disk."""
    code = (
        "import resource, signal, sys; from robot_bridge.config import RobotConfig;"
        "from robot_bridge.ros.log.recorder import BagRecorder;"
        "from tests.support.robot_bridge.recorded_run import tell;"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "before = resource.getrlimit(resource.RLIMIT_FSIZE);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, before[1]));"
        "recorder = BagRecorder(sys.argv[1], RobotConfig()); tell(recorder, 200); recorder.close();"
        "resource.setrlimit(resource.RLIMIT_FSIZE, before);"  # for the file of coverage
        "print(recorder.fault)"
    )
    path = tmp_path / "bag"
    told = subprocess.run([sys.executable, "-c", code, str(path)], cwd=ROOT, check=True, capture_output=True, text=True)
    assert told.stdout == f"the log {path} ends here: File too large\n"
    assert told.stderr == ""
    heard = Heard()
    read_log(path).tell(heard)
    assert heard.scans
