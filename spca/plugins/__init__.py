"""Plugins: modules of others that add worlds, kinds of objects, models, planning engines and policies."""
