"""The command ``twin``: serve the simulated robot over DDS in real time, for trials in place of the real robot."""

from __future__ import annotations

from robot_bridge.cli import config_file, robots
from robot_bridge.cli.options import TwinOptions
from robot_bridge.errors import SetupError
from spca.common.command import EXIT_FINISHED


def serve_twin(options: TwinOptions) -> int:
    """Serve until the time is up or the user interrupts; return the exit code."""
    from robot_bridge.ros.server import serve

    robot = options.robot
    if not robot.is_simulated:
        raise SetupError(f"--robot {robot.robot}: only the simulated robot is served")
    domain = robot.choose_domain()
    config, topics = config_file.read(robot.config)
    with robots.open_robot(robot, config, topics) as body:
        end = body.clock.now() + 60 * options.minutes
        has_camera = not (robot.no_camera or body.camera_fault)
        served = f"{robot.world}, seed {robot.seed}, is served in ROS 2 domain {domain}"
        camera = "with a camera" if has_camera else "without a camera"
        print(f"{served} {camera} for {options.minutes:g} minutes; interrupt to end", flush=True)

        def is_over() -> bool:
            return body.clock.now() >= end

        lost_s = serve(body.robot, body.clock, domain, is_over, with_camera=has_camera)
    if lost_s > 1.0:
        print(f"the simulation could not keep up with the time: it lost {lost_s:.1f} s")
    return EXIT_FINISHED
