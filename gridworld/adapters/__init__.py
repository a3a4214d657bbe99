"""Models that play tasks by asking a language model of a server. SDKs of providers are imported only on use."""
