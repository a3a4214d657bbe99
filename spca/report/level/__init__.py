"""The details of a level: its rounds, calls, code and attempts."""
