"""Every kind of page that there is, and what a page carries."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from explorer.report.pages import PLAY_PAGE, REPORT_PAGE
from gridworld.evaluation.results import leaderboard_page
from spca.common.web.document import PageKind
from spca.evaluation.page import rendering
from spca.report.page import assembly

KINDS: Final[Mapping[str, PageKind]] = {
    "run": assembly.PAGE,
    "live": replace(assembly.PAGE, connects=True),
    "evaluation": rendering.PAGE,
    "explorer": REPORT_PAGE,
    "play": PLAY_PAGE,
    "leaderboard": leaderboard_page.PAGE,
}


def read_pieces(page: str) -> dict[str, Any]:
    """Return the values of a page's pieces by name; lines of texts are numbers of ``lines``."""
    found = re.findall(r'data-piece="([^"]+)">([^<]*)</script>', page)
    return {name: json.loads(gzip.decompress(base64.b64decode(packed)))["value"] for name, packed in found}
