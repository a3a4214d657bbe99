"""ROS 2 without ROS: its types and their bytes, DDS, what serves a robot and what runs on one."""
