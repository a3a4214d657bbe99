"""Models in GGUF files, which llama.cpp runs in this process."""
