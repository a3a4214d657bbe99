"""What an exploration remembers: its state, the rules that keep it, and its text for a prompt."""
