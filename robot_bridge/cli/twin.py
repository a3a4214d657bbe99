"""``twin``: the simulated robot over DDS in real time, to try what is to be done with the real one."""

from __future__ import annotations

from robot_bridge.cli import bodies, config_file
from robot_bridge.cli.parser import Settings
from robot_bridge.errors import SetupError
from spca.common.command import EXIT_FINISHED


def run(settings: Settings) -> int:
    """Serve until the time is up or somebody interrupts; the exit code."""
    from robot_bridge.ros.server import serve

    if settings.robot != "mujoco":
        raise SetupError(f"--robot {settings.robot}: only the simulated robot is served")
    config, topics = config_file.read(settings.config)
    with bodies.opened(settings, config, topics) as body:
        end = body.clock.now() + 60 * settings.minutes
        has_camera = settings.camera and not body.camera_fault
        print(
            f"{settings.world}, seed {settings.seed}, is served in ROS 2 domain {settings.domain} "
            f"{'with' if has_camera else 'without'} a camera for {settings.minutes:g} minutes; interrupt to end",
            flush=True,
        )
        lost = serve(body.robot, body.clock, settings.domain, lambda: body.clock.now() >= end, with_camera=has_camera)
    if lost > 1.0:
        print(f"the simulation could not keep up with the time: it lost {lost:.1f} s")
    return EXIT_FINISHED
