"""Plugins as modules: which ones a user has named, how they are imported, and how a record of them is compared."""
