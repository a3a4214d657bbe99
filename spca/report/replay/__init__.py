"""Recorded attempts simulated again, as text, pictures and films."""
