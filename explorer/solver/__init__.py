"""Proofs of scenes: a witness that wins in the world itself, and closures that show which milestones are necessary."""
