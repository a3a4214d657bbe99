"""Catalogue of models: names, providers, servers and prices."""
