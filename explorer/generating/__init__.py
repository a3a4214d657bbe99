"""Scenes by the thousand: a plan of gates and keys, rooms to hide them in, and the proof that each scene holds."""
