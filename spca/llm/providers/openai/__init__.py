"""OpenAI's API and what speaks like it: chat and responses."""
