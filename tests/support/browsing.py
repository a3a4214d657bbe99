"""A real Chromium, driven by Playwright: the path in ``CHROMIUM``, else Debian's."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from weakref import WeakKeyDictionary

from playwright.sync_api import Browser, ConsoleMessage, Page, expect, sync_playwright

from tests.support.waiting import PATIENCE

PACKAGE = "chromium"
"""Debian's."""

_PATIENCE_MS = 1000 * PATIENCE

_SETTLED = """() => new Promise(settle => {
  let timer = 0;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => requestAnimationFrame(settle), 120);
  };
  new MutationObserver(wait).observe(document, {subtree: true, childList: true, attributes: true});
  new ResizeObserver(wait).observe(document.body);
  wait();
})"""
"""Fulfilled once the page has changed nothing for a while."""

_SLOW = "GPU stall due to ReadPixels"
"""What the browser says of its own when it has to draw WebGL without a graphics card."""

_FLAGS = (
    "--no-sandbox",  # of Chromium itself: it refuses to run as root with it
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)


def chromium() -> str | None:
    """Path of the browser, None where there is none."""
    return os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")


@contextmanager
def browser(path: str) -> Iterator[Browser]:
    """The browser, headless."""
    with sync_playwright() as playwright:
        expect.set_options(timeout=_PATIENCE_MS)
        started = playwright.chromium.launch(executable_path=path, args=list(_FLAGS))
        try:
            yield started
        finally:
            started.close()


@dataclass
class Visit:
    """A page with everything that it did besides being shown.

    Attributes:
        requests: addresses it asked for, the page itself not included.
        complaints: errors, warnings and violations of the page's policy.
    """

    page: Page
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    @contextmanager
    def listening(self) -> Iterator[Self]:
        """Write down what the page does in the meantime."""
        listeners: dict[Any, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "console": self._hear,
            "dialog": lambda dialog: self.complaints.append(f"dialog: {dialog.message}"),
            "popup": lambda popup: self.complaints.append(f"popup: {popup.url}"),
        }
        for event, listener in listeners.items():
            self.page.on(event, listener)
        yield self
        for event, listener in listeners.items():
            self.page.remove_listener(event, listener)

    def _hear(self, said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and _SLOW not in said.text:
            self.complaints.append(said.text)

    def open(self, address: str) -> Page:
        """Load an address and wait until the app has shown something."""
        self.page.goto(address)
        self.page.locator("header.top, main .notice").first.wait_for()
        self.requests[:] = [asked for asked in self.requests if asked != address.partition("#")[0]]
        return self.page


@contextmanager
def visit(
    started: Browser, *, width: int = 1440, height: int = 900, dark: bool = False, own: bool = False
) -> Iterator[Visit]:
    """A window that remembers nothing; ``own``: it is used for this visit only.

    To open a window takes the browser four times as long as to load a page, so one window serves many visits. After a
    visit that failed it is not used again.
    """
    windows = [] if own else _windows.setdefault(started, [])
    page = windows.pop() if windows else _open_window(started)
    try:
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(media="screen", color_scheme="dark" if dark else "light", reduced_motion="reduce")
        with Visit(page).listening() as made:
            yield made
        if not own:
            _forget_visit(page)
            windows.append(page)
    finally:
        if own or page not in windows:
            page.context.close()


_windows = WeakKeyDictionary[Browser, list[Page]]()
"""Windows of a browser that nobody uses."""


def _open_window(started: Browser) -> Page:
    context = started.new_context(reduced_motion="reduce")
    context.set_default_timeout(_PATIENCE_MS)
    return context.new_page()


def _forget_visit(page: Page) -> None:
    for other in page.context.pages:
        if other is not page:
            other.close()
    page.evaluate("localStorage.clear()")
    page.goto("about:blank")


def address(page: Path, route: str = "") -> str:
    """The address of a page on the disk; ``route`` is what stands behind the ``#``."""
    return page.resolve().as_uri() + (f"#{route}" if route else "")


def settle(page: Page) -> None:
    """Wait until the page has loaded its pieces and laid them out."""
    expect(page.get_by_text("Loading …")).to_have_count(0)
    page.evaluate(_SETTLED)


def unfold(page: Page) -> None:
    """Open everything that is folded, of many rounds and tries only the last; what is folded may hold more that is."""
    quiet = 0
    while quiet < 2:
        opened = page.evaluate(
            """() => {
                 const last = [...document.querySelectorAll("main section.round")].at(-1);
                 const folds = [...document.querySelectorAll("main details:not([open])")].filter(fold =>
                   !fold.closest(".tries > li:not(:last-child)") && [null, last].includes(fold.closest("section.round"))
                 );
                 for (const fold of folds) fold.open = true;
                 return folds.length;
               }"""
        )
        quiet = 0 if opened else quiet + 1
        page.wait_for_timeout(100)
