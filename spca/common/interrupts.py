"""Make signals that end a program act like Ctrl-C: finished work is kept, and the user learns how to resume."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final, NoReturn

TERMINATION_SIGNALS: Final = (signal.SIGTERM, signal.SIGHUP)
"""Signals that are sent by ``kill``, by a service manager, and by a terminal that is closed."""


def accepts_signal(number: signal.Signals) -> bool:
    """Return whether a handler may be set for a signal.

    No handler may be set if the signal is ignored (``nohup`` ignores SIGHUP), or if code outside of Python handles it.
    """
    return signal.getsignal(number) not in (signal.SIG_IGN, None)


@contextmanager
def interrupt_on_termination() -> Iterator[None]:
    """Raise KeyboardInterrupt on SIGTERM and SIGHUP until the block ends; do nothing outside of the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {each: signal.signal(each, _raise_interrupt) for each in TERMINATION_SIGNALS if accepts_signal(each)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _raise_interrupt(number: int, _frame: FrameType | None) -> NoReturn:
    if number == signal.SIGHUP:
        signal.signal(number, signal.SIG_IGN)  # kernel and shell may each send one when a terminal is closed
    raise KeyboardInterrupt(f"interrupted by {signal.Signals(number).name}")
