"""ROS 2 without ROS: its types and their bytes, DDS, the robot at its other end and what serves one."""
