"""Open-world exploration with hidden prerequisites: worlds, scenes, and a proof of what each scene claims."""
