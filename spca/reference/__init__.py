"""The embedded reference model: a deterministic stand-in for an LLM that needs no key and no network."""
