"""A bridge to a robot: explored by a model, driven by the agent's actions, kept safe by one chain."""
