"""Messages, tools and memory of a model, and the check of a decision before the control loop carries it out."""
