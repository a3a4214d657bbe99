"""Generate scenes: draw a plan of gates and keys, build rooms for the plan, and prove every scene."""
