"""Evaluate agents on scenes: episodes, rates by hops, and resumable runs."""
