"""One level in full: its rounds, calls, code and attempts."""
