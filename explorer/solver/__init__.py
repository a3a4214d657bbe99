"""The proof of a scene: a witness that wins in the world itself, and closures that show what cannot be without what."""
