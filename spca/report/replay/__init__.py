"""Re-simulation of recorded attempts, and their presentation as text, pictures and films."""
