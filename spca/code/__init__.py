"""The agent's source: read, merged, compiled, shown, and held against solved levels."""
