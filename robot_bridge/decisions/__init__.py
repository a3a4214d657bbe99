"""What a model sees, says and remembers, and the check between a decision and the control loop."""
