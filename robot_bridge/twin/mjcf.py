"""A world and a robot as a MuJoCo model (pure: values in, text and pictures out).

Every geom is in a group. The lidar and the camera see ``SOLID``. Only the camera sees ``MARKS`` and ``SIGNS``. Signs
are a separate group because the view from above does not show them: they would hide the floor. ``CAR`` holds the
visible parts of the robot. ``HIDDEN`` only collides and is never drawn. ``GLASS`` collides with the robot, but no ray
and no camera sees it.

Things are mocap bodies. At run time, they are moved, or parked below the floor. If the material of a geom is changed, a
thing shows another tag.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import pi
from xml.etree.ElementTree import Element, SubElement, tostring

from robot_bridge import tags
from robot_bridge.config import Body, RobotConfig
from robot_bridge.twin.worlds import world as w

SOLID = 0
MARKS = 1
CAR = 2
HIDDEN = 3
SIGNS = 4
GLASS = 5
TIMESTEP = 0.005
TRACK = 0.8
"""Distance between the middles of left and right wheels, as a fraction of the robot's width."""
MASS = 2.4
WHEEL_MASS = 0.12
TOP_VIEW = 1024
"""Greatest width and height of the view from above, pixels; the view is drawn twice as large."""

COLORS = {
    "red": "0.85 0.16 0.16",
    "green": "0.15 0.65 0.25",
    "blue": "0.18 0.35 0.85",
    "purple": "0.55 0.22 0.70",
    "yellow": "0.95 0.78 0.15",
    "grey": "0.45 0.47 0.50",
}
"""For each name of a colour, the red, green and blue. Any other name is shown as grey."""
LAVA = "0.93 0.42 0.06"
_OBSTACLE_COLORS = {
    "pole": "0.25 0.25 0.28",
    "leg": "0.45 0.30 0.18",
    "seat": "0.45 0.30 0.18",
    "mover": "0.95 0.45 0.10",
}

# Two geoms collide if the contype of one and the conaffinity of the other share a bit. Value 2: walls, things
# and obstacles against the robot's hull. Value 1: the floor against the robot's wheels.
_TOUCHES_ROBOT = {"contype": "2", "conaffinity": "0"}
_TOUCHES_WORLD = {"contype": "0", "conaffinity": "2"}
_NO_CONTACT = {"contype": "0", "conaffinity": "0"}


def text(world: w.TwinWorld, config: RobotConfig) -> str:
    """Return the model as MJCF text; :func:`textures` returns the pictures of the tags that the text refers to."""
    root = Element("mujoco", model="twin")
    _add(root, "compiler", angle="radian", autolimits="true")
    _add(root, "option", timestep=str(TIMESTEP), integrator="implicitfast", cone="elliptic", impratio="20")
    _add(root, "statistic", extent="1", center="0 0 0")
    _add_rendering(_add(root, "visual"), config)
    _add_assets(_add(root, "asset"), world)

    bodies = _add(root, "worldbody")
    _add_surroundings(bodies, world)
    for index, obstacle in enumerate(world.obstacles):
        _add_obstacle(bodies, index, obstacle)
    for index, thing in enumerate(world.things):
        _add_thing(bodies, index, thing)

    actuators = _add(root, "actuator")
    _add_car(bodies, actuators, world, config)
    return tostring(root, encoding="unicode")


def name_tag(kind: str, color: str, state: str) -> str:
    """Return the name of the material that shows a tag."""
    return f"tag_{kind}_{color}_{state or 'none'}"


def labels(things: Sequence[w.Thing]) -> tuple[tags.Label, ...]:
    """Return the labels of every state of every thing, in order, without repetition."""
    unique: dict[tags.Label, None] = {}
    for thing in things:
        for state in thing.states:
            unique[thing.kind, thing.color, state] = None
    return tuple(unique)


def textures(world: w.TwinWorld) -> dict[str, bytes]:
    """Return the pictures that :func:`text` refers to, by file name.

    Raises:
        ValueError: a thing has no tag.
    """
    pictures = {}
    for label in labels(world.things):
        pictures[f"{name_tag(*label)}.png"] = tags.texture(*label)
    return pictures


def _add_rendering(visual: Element, config: RobotConfig) -> None:
    """Set light and clipping planes, and a buffer large enough for the camera and the view from above."""
    _add(visual, "headlight", ambient="0.45 0.45 0.45", diffuse="0.35 0.35 0.35", specular="0 0 0")
    _add(visual, "map", znear="0.02", zfar="60")
    width = max(config.camera.width, 2 * TOP_VIEW)
    height = max(config.camera.height, 2 * TOP_VIEW)
    _add(visual, "global", offwidth=str(width), offheight=str(height))
    _add(visual, "quality", shadowsize="0", offsamples="0")


def _add_assets(asset: Element, world: w.TwinWorld) -> None:
    """Add the appearance of sky and floor, and a material for every tag."""
    _add(asset, "texture", name="sky", type="skybox", builtin="flat", rgb1="0.80 0.84 0.88", width="32", height="32")
    floor = {"rgb1": "0.70 0.68 0.64", "rgb2": "0.66 0.64 0.60", "width": "256", "height": "256"}
    _add(asset, "texture", name="floor", type="2d", builtin="checker", **floor)
    _add(asset, "material", name="floor", texture="floor", texrepeat="1 1", texuniform="true")

    for label in labels(world.things):
        name = name_tag(*label)
        _add(asset, "texture", name=name, type="cube", file=f"{name}.png")
        _add(asset, "material", name=name, texture=name, specular="0", shininess="0")


def _add_surroundings(bodies: Element, world: w.TwinWorld) -> None:
    """Add the light, the walls, and a floor that reaches 3 m beyond the world."""
    x0, y0, x1, y1 = world.bounds
    middle_x = (x0 + x1) / 2
    middle_y = (y0 + y1) / 2
    middle = f"{middle_x:.4f} {middle_y:.4f}"
    light = {"dir": "0.2 0.35 -1", "diffuse": "0.38 0.38 0.38", "specular": "0 0 0", "castshadow": "false"}
    _add(bodies, "light", name="sun", type="directional", pos=f"{middle} 6", **light)

    half_x = (x1 - x0) / 2 + 3
    half_y = (y1 - y0) / 2 + 3
    place = {"pos": f"{middle} 0", "size": f"{half_x:.4f} {half_y:.4f} 0.1"}
    ground = {"material": "floor", "group": "1", "contype": "1", "conaffinity": "0", "friction": "1 0.005 0.0001"}
    _add(bodies, "geom", name="floor", type="plane", **place, **ground)

    for index, wall in enumerate(w.merge_walls(world.walls)):
        _add_wall(bodies, f"wall{index}", wall)


def _add_wall(bodies: Element, name: str, wall: w.Wall) -> None:
    half_x = (wall.x1 - wall.x0) / 2
    half_y = (wall.y1 - wall.y0) / 2
    half_z = w.WALL_HEIGHT / 2
    x = (wall.x0 + wall.x1) / 2
    y = (wall.y0 + wall.y1) / 2
    size = (half_x, half_y, half_z)
    _add_geom(bodies, name, "box", size, (x, y, half_z), "0.88 0.86 0.80", SOLID, **_TOUCHES_ROBOT)


def _add_obstacle(bodies: Element, index: int, obstacle: w.Obstacle) -> None:
    """Add an obstacle; an obstacle that walks is a mocap body."""
    body = _add(bodies, "body", name=f"obstacle{index}", pos=f"{obstacle.x} {obstacle.y} 0")
    if obstacle.path:
        body.set("mocap", "true")

    half = obstacle.height / 2
    size: Sequence[float] = (obstacle.half_x, obstacle.half_y, half)
    if obstacle.shape == "cylinder":
        size = (obstacle.half_x, half)
    middle = (0, 0, obstacle.bottom + half)
    rgb = _OBSTACLE_COLORS.get(obstacle.name, "0.72 0.55 0.35")
    name = f"{obstacle.name}{index}"
    group = GLASS if obstacle.is_glass else SOLID
    _add_geom(body, name, obstacle.shape, size, middle, rgb, group, **_TOUCHES_ROBOT)


def _add_thing(bodies: Element, index: int, thing: w.Thing) -> None:
    """Add a thing as a mocap body: a door, a mark with a sign above, or a cube with tags and a lid."""
    body = _add(bodies, "body", name=f"thing{index}", mocap="true")
    rgb = COLORS.get(thing.color, COLORS["grey"])
    if thing.kind == "door":
        _add_door(bodies, body, index, thing, rgb)
        return

    half = tags.FACES[thing.kind].side / 2
    cube = (half, half, half)  # MuJoCo's sizes of boxes are half the edges
    name = f"tag{index}"
    material = name_tag(thing.kind, thing.color, thing.state)
    if thing.kind in ("goal", "lava"):
        mark = LAVA if thing.kind == "lava" else rgb
        _add_mark(body, f"mark{index}", "box", (0.45, 0.45, 0.002), (0, 0, 0.002), mark)
        above = (0, 0, w.SIGN_BOTTOM + half)
        _add_geom(body, name, "box", cube, above, "1 1 1", SIGNS, material, **_NO_CONTACT)
    else:
        _add_geom(body, name, "box", cube, (0, 0, half), "1 1 1", SOLID, material, **_TOUCHES_ROBOT)
        _add_lid(body, index, thing.kind, rgb, 2 * half)


def _add_door(bodies: Element, panel: Element, index: int, thing: w.Thing, rgb: str) -> None:
    """Add a door: the panel, which is moved away when the door opens, and the sign above, which stays."""
    half_z = w.DOOR_HEIGHT / 2
    half_x = w.DOOR_THICKNESS / 2
    half_y = w.DOOR_WIDTH / 2
    face = tags.FACES["door"]
    material = name_tag("door", thing.color, thing.state)

    middle = (0, 0, half_z)
    size = (half_x - 0.002, half_y, half_z)
    _add_geom(panel, f"panel{index}", "box", size, middle, rgb, SOLID, **_TOUCHES_ROBOT)
    plate = (face.middle, face.side / 2, face.side / 2)
    _add_geom(panel, f"tag{index}", "box", plate, middle, "1 1 1", SOLID, material, **_TOUCHES_ROBOT)

    sign = _add(bodies, "body", name=f"sign{index}", mocap="true")
    _add_mark(sign, f"threshold{index}", "box", (half_x, half_y, 0.001), (0, 0, 0.001), rgb)
    above = (0, 0, w.SIGN_BOTTOM + face.side / 2)
    _add_geom(sign, f"above{index}", "box", plate, above, "1 1 1", SIGNS, material, **_NO_CONTACT)


def _add_lid(body: Element, index: int, kind: w.Kind, rgb: str, top: float) -> None:
    """Add a picture of the thing on top of a cube, for people; it is flat, so that it hides no tag."""
    name = f"shape{index}"
    white = "0.96 0.96 0.96"
    _add_mark(body, f"lid{index}", "box", (0.149, 0.149, 0.002), (0, 0, top + 0.002), white)
    z = top + 0.008
    if kind == "ball":
        _add_mark(body, name, "cylinder", (0.11, 0.006), (0, 0, z), rgb)
    elif kind == "box":
        _add_mark(body, name, "box", (0.12, 0.12, 0.006), (0, 0, z), rgb)
        above = (0, 0, z + 0.002)
        _add_mark(body, f"{name}b", "box", (0.10, 0.012, 0.006), above, white)
    else:
        bow = (0, 0.06, z)
        stem = (0, -0.04, z)
        bit = (0.03, -0.10, z)
        _add_mark(body, name, "cylinder", (0.055, 0.006), bow, rgb)
        _add_mark(body, f"{name}b", "box", (0.018, 0.09, 0.006), stem, rgb)
        _add_mark(body, f"{name}c", "box", (0.04, 0.015, 0.006), bit, rgb)


def _add_mark(parent: Element, name: str, shape: str, size: Sequence[float], at: Sequence[float], rgb: str) -> None:
    _add_geom(parent, name, shape, size, at, rgb, MARKS, **_NO_CONTACT)


def _add_car(bodies: Element, actuators: Element, world: w.TwinWorld, config: RobotConfig) -> None:
    """Add the robot; the origin of its body is the middle of the rear axle, at the height of the axle."""
    body = config.body
    start = world.start
    at = f"{start.x} {start.y} {body.wheel_radius}"
    car = _add(bodies, "body", name="car", pos=at, euler=f"0 0 {start.heading}")
    _add(car, "freejoint", name="car")

    ground_clearance = 0.015
    half_length = (body.front + body.rear) / 2
    half_height = (body.height - ground_clearance) / 2
    size = (half_length, body.half_width, half_height)
    middle = (body.centre, 0.0, ground_clearance + half_height - body.wheel_radius)
    _add_geom(car, "hull", "box", size, middle, "0 0 0", HIDDEN, mass=str(MASS), **_TOUCHES_WORLD)
    _add_body_looks(car, body)

    camera = config.camera
    eye = f"{camera.x} 0 {camera.z - body.wheel_radius}"
    fov_degrees = camera.fov_y * 180 / pi
    _add(car, "camera", name="eye", pos=eye, xyaxes="0 -1 0 0 0 1", fovy=str(fov_degrees))
    for name, x, y in _wheel_places(body):
        _add_wheel(car, actuators, body, name, x, y)


def _wheel_places(body: Body) -> Iterator[tuple[str, float, float]]:
    """Yield (name, x, y) of the wheels, in the base frame."""
    y = body.half_width * TRACK
    yield ("rear_left", 0.0, y)
    yield ("rear_right", 0.0, -y)
    yield ("front_left", body.wheelbase, y)
    yield ("front_right", body.wheelbase, -y)


def _add_wheel(car: Element, actuators: Element, body: Body, name: str, x: float, y: float) -> None:
    """Add a wheel: a hidden sphere, which touches the floor in a single point, and a visible tyre.

    A front wheel (``x`` > 0) also steers; a rear wheel has a motor.
    """
    wheel = _add(car, "body", name=name, pos=f"{x} {y} 0")
    is_front = x > 0
    if is_front:
        steer = f"{name}_steer"
        _add(wheel, "inertial", pos="0 0 0", mass="0.02", diaginertia="1e-5 1e-5 1e-5")
        _add(wheel, "joint", name=steer, axis="0 0 1", damping="0.02", armature="0.002")
        _add(actuators, "position", name=steer, joint=steer, kp="4", kv="0.15")
        wheel = _add(wheel, "body", name=f"{name}_roll")

    _add(wheel, "joint", name=name, axis="0 1 0", armature="0.0005", damping="0.0001")
    if x == 0:
        _add(actuators, "velocity", name=name, joint=name, kv="0.05", forcerange="-0.6 0.6")

    contact = {"contype": "0", "conaffinity": "1", "friction": "1 0.005 0.0001", "mass": str(WHEEL_MASS)}
    middle = (0, 0, 0)
    _add_geom(wheel, name, "sphere", (body.wheel_radius,), middle, "0 0 0", HIDDEN, **contact)
    upright = {"euler": f"{pi / 2} 0 0", **_NO_CONTACT, "mass": "0"}
    tyre = (body.wheel_radius, 0.016)
    _add_geom(wheel, f"{name}_tyre", "cylinder", tyre, middle, "0.1 0.1 0.1", CAR, **upright)


def _add_body_looks(car: Element, body: Body) -> None:
    """Add the visible parts of the robot, which have no mass and touch nothing."""
    massless = {**_NO_CONTACT, "mass": "0"}
    half_length = (body.front + body.rear) / 2
    axle_height = body.wheel_radius

    deck = (half_length, body.half_width * 0.62, 0.018)
    deck_at = (body.centre, 0, 0.02)
    _add_geom(car, "deck", "box", deck, deck_at, "0.13 0.15 0.19", CAR, **massless)

    cover = (half_length * 0.72, body.half_width * 0.55, 0.03)
    cover_at = (body.centre - 0.02, 0, 0.065)
    _add_geom(car, "cover", "box", cover, cover_at, "0.10 0.55 0.62", CAR, **massless)

    scanner = (0.035, 0.02)
    scanner_at = (0.10, 0, body.height - axle_height - 0.025)
    _add_geom(car, "scanner", "cylinder", scanner, scanner_at, "0.1 0.1 0.1", CAR, **massless)

    nose = (0.012, 0.045, 0.012)
    nose_at = (body.front - 0.012, 0, body.height - axle_height - 0.03)
    _add_geom(car, "nose", "box", nose, nose_at, "0.98 0.85 0.2", CAR, **massless)


def _add_geom(
    parent: Element,
    name: str,
    shape: str,
    size: Sequence[float],
    at: Sequence[float],
    rgb: str,
    group: int,
    material: str = "",
    **attributes: str,
) -> None:
    """Add a geom; ``size`` is in MuJoCo's form for the shape, ``at`` in the frame of ``parent``, metres."""
    geom = _add(parent, "geom", name=name, type=shape, rgba=f"{rgb} 1", group=str(group), **attributes)
    geom.set("size", " ".join(f"{value:.5g}" for value in size))
    geom.set("pos", " ".join(f"{value:.6g}" for value in at))
    if material:
        geom.set("material", material)


def _add(parent: Element, tag: str, **attributes: str) -> Element:
    return SubElement(parent, tag, attributes)
