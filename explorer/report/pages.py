"""The kinds of pages: the report, and the page on which a person plays."""

from __future__ import annotations

from typing import Final

from spca.common.web.document import PageKind

REPORT_PAGE: Final = PageKind("explorer.report", open="openReport", leaves_out=("play.js", "play.css"))
PLAY_PAGE: Final = PageKind("explorer.report", open="openPlay", connects=True, leaves_out=("report.js", "report.css"))
