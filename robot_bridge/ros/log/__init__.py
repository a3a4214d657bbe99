"""Logs of runs as ROS 2 bags: record a run, play a log back to journals, and replay the safety chain."""
