"""Every kind of page that there is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from spca.common.web.document import PageKind
from spca.report.page import assembly

KINDS: Final[Mapping[str, PageKind]] = {
    "run": assembly.PAGE,
    "live": replace(assembly.PAGE, connects=True),
}
