"""The control loop, and the decision that it carries out."""
