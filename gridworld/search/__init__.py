"""Exact search: shortest solutions, proofs that nothing is shorter, and certificates of both."""
