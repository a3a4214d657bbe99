"""Agents on scenes: episodes, rates by hops, and many of them with a journal."""
