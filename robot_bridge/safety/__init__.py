"""What keeps the robot from doing harm: the chain before the wheels, and what it judges by."""
