"""The version of the program; a module of its own, so that parts which name it do not import the whole package."""

from __future__ import annotations

__version__ = "0.1.0"
