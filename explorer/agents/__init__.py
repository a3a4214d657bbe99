"""Who plays: agents by name."""
