"""Calls of models: the ledger, transcripts, budgets, retries and prices around a provider's bare request."""
