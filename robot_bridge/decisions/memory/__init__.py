"""Memory of an exploration: the state, the rules that update the state, and the state as text for a prompt."""
