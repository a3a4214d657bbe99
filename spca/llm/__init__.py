"""Models: catalogue, providers, the handling of calls, and feedback to a model."""
