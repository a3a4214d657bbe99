"""What a page is made of: nothing of it tells where files lie on this machine."""

from __future__ import annotations

import base64
import gzip
from pathlib import Path

from minigridenv import MiniGridEnv
from spca.common.web.packing import to_json
from spca.contracts import Status
from spca.report.compare import compare
from spca.report.page.assembly import pack_run, report_of
from spca.report.read import baseline
from spca.report.read.run_files import open_run
from tests.support.report.making import Writing


def test_a_page_names_no_folder_of_this_machine(tmp_path: Path) -> None:
    home = str(tmp_path)
    run = Writing(tmp_path, curriculum=f"{home}/my.json", workspace=home, base_url="https://example.org/v1")
    (run.path / "state/curriculum.json").unlink()
    run.begin()
    run.plan(error=f"replay/{home}/run: not asked")
    run.finish(f"replay/{home}/run: not asked")
    run.kill()
    made, pieces = pack_run(0, open_run(run.path), MiniGridEnv, lambda _name: None)
    assert home in made.folder, "the terminal tells it"
    report = report_of("x", [made], [compare(made, baseline.read_published())])
    assert report.runs[0].settings["curriculum"] == "my.json"
    assert report.runs[0].settings["base_url"] == "https://example.org/v1"
    assert report.runs[0].levels[0].headline == "no plan in 1 round: replay/run: not asked"
    assert home.encode() not in to_json(report)
    for piece in pieces.values():
        assert home not in gzip.decompress(base64.b64decode(piece)).decode()


def test_a_row_has_the_headline_of_its_level_and_the_run_its_methods(tmp_path: Path) -> None:
    run = Writing(tmp_path)
    run.solve()
    run.fail()
    run.kill()
    made, _ = pack_run(0, open_run(run.path), MiniGridEnv, lambda _name: None)
    assert [row.headline for row in made.levels] == ["", "attempt 1.1 got stuck", ""]
    assert [row.group for row in made.levels] == ["", f"{Status.STUCK}: it turns and turns", ""]
    assert [(method.name, method.level) for method in made.methods] == [("go", 1)]
