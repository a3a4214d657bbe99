"""Sense-Plan-Code-Act: the packages from which the top-level applications are built."""

__version__ = "0.1.0"
