"""Models in GGUF files, run in this process."""
