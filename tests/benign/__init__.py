"""Harmless generated code: what a sandbox around it must let through, and what it must not change."""
