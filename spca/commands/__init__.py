"""The commands of ``main.py``: a module a command, with its options and what carries it out."""
