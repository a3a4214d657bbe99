"""The kinds of pages: the report, and the page on which a person plays."""

from __future__ import annotations

from typing import Final

from spca.common.web.document import PageKind

_STAGE: Final = ("voxels.js", "views.js", "stage.js")

REPORT_PAGE: Final = PageKind(
    package="explorer.report",
    styles=("stage.css", "report.css"),
    scripts=(*_STAGE, "report.js"),
    open="openReport",
)
PLAY_PAGE: Final = PageKind(
    package="explorer.report",
    styles=("stage.css", "play.css"),
    scripts=(*_STAGE, "play.js"),
    open="openPlay",
    connects=True,
)
