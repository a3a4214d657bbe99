"""Claude, and servers that speak its protocol."""
