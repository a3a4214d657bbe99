"""Logs of runs as ROS 2 bags: written, told again, and held against the safety chain."""
