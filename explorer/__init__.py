"""Open-world exploration with hidden prerequisites: worlds, scenes and the proof that each scene is what it says."""
