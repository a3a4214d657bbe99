"""The tools of the command line: one module each, with ``build_parser`` and ``run``."""
