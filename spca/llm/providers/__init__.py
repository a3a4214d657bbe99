"""Model providers: one method each, chosen by the prefix of a model name."""
