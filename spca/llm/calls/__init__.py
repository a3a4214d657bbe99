"""Calls of models: the books, transcripts, budgets, retries and prices around a provider's bare request."""
