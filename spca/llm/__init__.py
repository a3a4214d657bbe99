"""Models: providers, what surrounds a request, and what is said back to a model."""
