"""What runs on the robot: the deadman and its way to the wheels."""
