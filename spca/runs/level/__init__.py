"""Parts of playing a level: code and execution for one plan, and round 0, in which stored problem writers plan."""
