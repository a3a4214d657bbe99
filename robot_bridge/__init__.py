"""Bridge to a robot, with which a model explores or which an agent drives; one safety chain checks every command."""
