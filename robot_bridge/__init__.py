"""Bridge to a robot that a model explores with or an agent drives; one safety chain checks every command."""
