"""The programs that run on the robot: the deadman and the relay between host, deadman and wheels."""
