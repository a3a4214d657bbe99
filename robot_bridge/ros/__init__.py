"""ROS 2 without an installation of ROS: message types, DDS, a robot reached over DDS, a server, and logs."""
