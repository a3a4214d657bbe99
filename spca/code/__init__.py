"""The agent's source: reading, checking and merging what a coder writes."""
