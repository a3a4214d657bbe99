"""Where a key comes from: the first variable that holds one."""

from __future__ import annotations

import os

from spca.common.redaction import hide
from spca.errors import ProviderConfigError


def key_from(label: str, *variables: str) -> tuple[str, str] | None:
    """Name and value of the first of ``variables`` that is set; None when none is.

    Raises:
        ProviderConfigError: it holds characters that no HTTP header carries, such as a line break.
    """
    for name in variables:
        value = os.environ.get(name, "").strip()
        if not value:
            continue
        if not (value.isascii() and value.isprintable()):
            raise ProviderConfigError(f"{label}: {name} holds characters that no key has: check it")
        hide(name)
        return name, value
    return None


def missing(label: str, variables: str) -> ProviderConfigError:
    """The error for a model whose key is not there."""
    return ProviderConfigError(f"{label}: set {variables} in the environment or in .env")
