"""The command ``doctor``."""
