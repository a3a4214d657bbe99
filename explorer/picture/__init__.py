"""Pictures of what an agent knows: first person, map, and the textures of both. No asset of any game is used."""
