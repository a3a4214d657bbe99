"""Open-world exploration with hidden prerequisites: worlds, scenes, and a proof of the claims of each scene."""
