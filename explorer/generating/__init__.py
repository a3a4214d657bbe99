"""Generate scenes: draw a plan of gates and keys, build rooms around it, and prove every scene."""
