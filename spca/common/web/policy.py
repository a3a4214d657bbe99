"""What our pages share: their policy, which lets in nothing but their own script and style, and their colours."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources


def content_policy(script: str, style: str, *, connect: bool = False) -> str:
    """Return the Content-Security-Policy of a page.

    Args:
        script, style: what stands between the tags, to the character.
        connect: it may ask the server that it came from.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data:",
            f"connect-src '{'self' if connect else 'none'}'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _digest(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"


def base_style() -> str:
    """Return the style sheet that every page begins with: colours of light and dark, type, buttons, tables."""
    return resources.files("spca.common.web").joinpath("base.css").read_text(encoding="utf-8")
