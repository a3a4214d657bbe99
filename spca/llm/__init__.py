"""Models: providers, the handling of requests, and feedback to a model."""
