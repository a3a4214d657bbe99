"""Pictures of scenes: the agent's first-person view, cutaways for people, and textures. No asset of a game is used."""
