"""Playing a level: code and execution for a plan, and round 0, in which stored problem writers plan."""
