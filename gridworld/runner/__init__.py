"""Runner: plays episodes on any backend and keeps what happened."""
