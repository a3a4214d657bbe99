"""Where everything of a plan is: rooms, passages, things, the spawn, and the way of the witness."""
