"""Place a plan: rooms, passages, things, the spawn, and the deeds of the witness."""
