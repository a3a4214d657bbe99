"""How a level is played: a plan coded and acted, and round 0, in which stored problem writers plan."""
