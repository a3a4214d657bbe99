"""Draw what an agent knows: first-person view, map, and their textures. No asset of any game is used."""
