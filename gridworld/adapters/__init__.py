"""Models that play tasks through a language model on a server. The SDK of a provider is imported only when used."""
