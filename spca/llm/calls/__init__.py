"""Calls of models: ledger, transcripts, budgets, retries and prices around the requests of the providers."""
