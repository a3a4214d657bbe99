"""The world in which an agent acts: blocks in memory, a body with physics, and what the agent sees."""
