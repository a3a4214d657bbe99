"""Where the robot is, what the place looks like, and how to drive to a goal in it."""
