"""Sense-Plan-Code-Act: the parts that the top-level applications are built of."""

__version__ = "0.1.0"
