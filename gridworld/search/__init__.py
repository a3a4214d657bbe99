"""Exact search: shortest solutions, proofs that no solution is shorter, and certificates of solutions and proofs."""
