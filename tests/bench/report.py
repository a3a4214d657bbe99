"""The report of a whole run: its size, how long it takes to build, and until it can be used in a browser."""

from __future__ import annotations

import argparse
import shutil
import subprocess
import time
from pathlib import Path
from statistics import median

from tests.soak.common import SCRATCH, command, environment, only_run, run
from tests.support import browsing

SIZE_MB, BUILD_S, INTERACTIVE_S = 15.0, 60.0, 2.0
"""What the page of a whole curriculum is meant to stay under."""


def interactive(page: Path) -> tuple[float, float]:
    """Seconds until the levels of the page can be clicked, and until an empty page is there: medians of five."""
    path = browsing.chromium()
    if path is None:
        raise SystemExit(f"no Chromium: apt install {browsing.PACKAGE}, or give its path in CHROMIUM")
    empty = page.with_name("empty.html")
    empty.write_text("<!doctype html><title>empty</title><h1>empty</h1>", encoding="utf-8")
    times: dict[Path, list[float]] = {page: [], empty: []}
    with browsing.browser(path) as started:
        for _ in range(5):
            for each, taken in times.items():
                with browsing.visit(started) as made:
                    began = time.perf_counter()
                    shown = made.open(browsing.address(each))
                    if each is page:
                        shown.get_by_role("button", name="Failed").click()
                    taken.append(time.perf_counter() - began)
    return median(times[page]), median(times[empty])


def main() -> None:
    """Print the figures for a run of the whole curriculum, made for it or given."""
    parser = argparse.ArgumentParser(prog="scripts/bench report", description=__doc__)
    parser.add_argument("--run", type=Path, help="folder of a run (default: the embedded model's, run now)")
    options = parser.parse_args()
    home = SCRATCH / "bench_report"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    folder, learned = options.run, None
    if folder is None:
        began = time.perf_counter()
        run("--quiet", "--runs", str(home / "runs"), "--workspace", str(home / "workspace"))
        learned = time.perf_counter() - began
        folder = only_run(home / "runs")
    page = home / "report.html"
    began = time.perf_counter()
    subprocess.run(
        command("report", str(folder), "--out", str(page)),
        check=True,
        env=environment(),
        stdout=subprocess.DEVNULL,
    )
    built = time.perf_counter() - began
    usable, empty = interactive(page)
    ratio = f", {built / learned:.2f} of the run's own time" if learned else ""
    print(f"size:        {page.stat().st_size / 1e6:.1f} MB (meant: under {SIZE_MB:g})")
    print(f"built in:    {built:.1f} s (meant: about {BUILD_S:g} or less){ratio}")
    print(f"interactive: {usable:.2f} s (meant: about {INTERACTIVE_S:g} or less); an empty page takes {empty:.2f} s")


if __name__ == "__main__":
    main()
