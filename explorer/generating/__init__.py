"""Generate scenes: draw a plan of gates and keys, build rooms for the plan, and prove every scene.

A hop is a milestone of the plan; the last hop is the goal. The order of the hops follows from which hop needs which
other hops.
"""
