"""Providers of models, each chosen by the prefix of a model's name."""
