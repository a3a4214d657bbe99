"""The world that carries out steps: blocks in memory, a body with physics, what an agent sees."""
