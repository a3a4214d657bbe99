"""Running of episodes on any backend, and records of their steps."""
