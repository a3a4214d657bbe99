"""The control loop, and the decisions that the loop carries out."""
