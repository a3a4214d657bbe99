"""Memory of an exploration: the state with its file, the rules that update the state, and its text for a prompt."""
