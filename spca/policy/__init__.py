"""What a run has learned as a policy for a loop of one's own: it reads observations, and needs no simulator."""
