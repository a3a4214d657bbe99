"""Anthropic and servers with the same protocol."""
