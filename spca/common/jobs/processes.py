"""Do jobs in worker processes on this machine."""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Final, Generic

from spca.common.debug_log import WorkerLog, worker_log
from spca.common.errors import SPCAError
from spca.common.jobs.work import TRIES, J, R, Setup, unusable

_LOG: Final = logging.getLogger(__name__)

_PATIENCE_S: Final = 5.0
_PUT_OFF_S: Final = 4.0
"""Less than the patience of the parent: what ends a request is written down too."""


def do_in_processes(setup: Setup[J, R], jobs: Sequence[J], workers: int) -> Generator[tuple[int, R]]:
    """Do jobs in several processes; the job of a process that dies is tried once more, then recorded as lost.

    Raises:
        SPCAError: the type that ``setup`` names: no job can be done, or processes cannot be started.
    """
    size = min(workers, len(jobs))
    if size > 1:
        with closing(_Pool(setup, size)) as pool:
            yield from pool.do(jobs)
        return
    with setup.start_worker() as do:
        for job in jobs:
            yield job.index, do(job)


@dataclass(slots=True, eq=False)
class _Worker(Generic[J]):
    process: BaseProcess
    connection: Connection[Any, Any]
    ready: bool = False
    job: J | None = None


class _Pool(Generic[J, R]):
    """Processes that each take one job at a time."""

    def __init__(self, setup: Setup[J, R], size: int) -> None:
        self._setup = setup
        self._size = size
        self._workers: list[_Worker[J]] = []
        self._queue: deque[J] = deque()
        self._tries: Counter[int] = Counter()

    def do(self, jobs: Sequence[J]) -> Generator[tuple[int, R]]:
        self._queue.extend(jobs)
        while self._queue or any(worker.job for worker in self._workers):
            while self._queue and (worker := self._free()):
                worker.job = self._queue.popleft()
                with suppress(OSError):  # it died while idle; wait() reports that next
                    worker.connection.send(worker.job)
            busy = {worker.connection: worker for worker in self._workers if worker.job}
            for connection in wait(list(busy)):
                yield from self._receive(busy[connection])  # type: ignore[index]

    def close(self) -> None:
        """End every process: busy ones at once, idle ones after they have released their resources."""
        try:
            self._release()
        finally:  # a second Ctrl-C skips the wait
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()
            self._workers.clear()

    def _release(self) -> None:
        for worker in self._workers:
            if worker.job is None:
                with suppress(OSError):
                    worker.connection.send(None)
            else:
                _LOG.debug("worker process %s is terminated in the middle of a job", worker.process.pid)
                worker.process.terminate()
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(_PATIENCE_S)

    def _free(self) -> _Worker[J] | None:
        for worker in self._workers:
            if worker.job is None:
                return worker
        if len(self._workers) < self._size:
            self._workers.append(self._start())
            return self._workers[-1]
        return None

    def _start(self) -> _Worker[J]:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._setup, worker_log()))
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            terms = self._setup.terms
            why = f"this {terms.doer} cannot be sent to worker processes ({error}); use --workers 1"
            raise terms.error(why) from error
        finally:
            theirs.close()
        _LOG.debug("worker process %s started", process.pid)
        return _Worker(process, ours)

    def _receive(self, worker: _Worker[J]) -> Generator[tuple[int, R]]:
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if kind == "failed":
            raise content
        if kind == "ready":
            worker.ready = True
        elif worker.job is not None:
            job = worker.job
            worker.job = None
            yield job.index, content

    def _bury(self, worker: _Worker[J]) -> Generator[tuple[int, R]]:
        """Remove a dead worker; put its job back into the queue, or yield it as lost after its last try."""
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        code = worker.process.exitcode
        _LOG.info("worker process %s ended with code %s, its job: %s", worker.process.pid, code, worker.job)
        if not worker.ready:
            why = f"a worker process could not start and ended with code {code}; try --workers 1"
            raise self._setup.terms.error(why)
        if worker.job is None:
            return
        self._tries[worker.job.index] += 1
        if self._tries[worker.job.index] < TRIES:
            self._queue.appendleft(worker.job)
        else:
            yield (
                worker.job.index,
                self._setup.make_lost_result(worker.job, f"its worker process ended with code {code}"),
            )


def _serve(connection: Connection[Any, Any], setup: Setup[J, R], log: WorkerLog) -> None:
    """Serve jobs in a worker process until told to stop. The parent handles Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, _Leave):
        try:
            signal.signal(signal.SIGTERM, _leave)
            threading.Thread(target=_follow_parent, daemon=True).start()
            with log.open_log():
                _work(connection, setup)
        finally:  # from here on nothing catches _Leave
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _work(connection: Connection[Any, Any], setup: Setup[J, R]) -> None:
    try:
        with setup.start_worker() as do:
            connection.send(("ready", None))
            while (job := connection.recv()) is not None:
                connection.send(_done(setup, do, job))
    except (setup.unusable, ImportError) as error:
        connection.send(("failed", _sendable(unusable(setup, error), setup.unusable, traceback.format_exc())))


def _follow_parent() -> None:
    """Terminate this process once its parent is gone, so that no orphan works on (a job may cost money)."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _done(setup: Setup[J, R], do: Callable[[J], R], job: J) -> tuple[str, Any]:
    """Do a job and return the message to send. An error here ends the whole run, as it does in a single process."""
    try:
        return "result", do(job)
    except (setup.unusable, ImportError) as error:
        return "failed", _sendable(unusable(setup, error), setup.unusable, traceback.format_exc())
    except Exception as error:  # boundary of the process: a full disk, a closed pipe, a bug
        return "failed", _sendable(error, setup.terms.error, traceback.format_exc())


def _sendable(error: Exception, plain: type[SPCAError], where: str) -> Exception:
    """Return the error with its traceback as a note; if it cannot be pickled, return one with the same message."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # unpickling calls its constructor, which may raise anything
        error = plain(str(error)) if isinstance(error, SPCAError) else RuntimeError(f"{type(error).__name__}: {error}")
    error.add_note(where)
    return error


@contextmanager
def unbroken() -> Iterator[None]:
    """In a worker process, put off its end until the context is left: an answer that is paid for gets written down.

    It is put off for a few seconds, in which the parent waits, so that no orphan works on; elsewhere not at all.
    """
    if signal.getsignal(signal.SIGTERM) is not _leave or threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []

    def put_off(number: int, _frame: FrameType | None) -> None:
        if not came:
            signal.setitimer(signal.ITIMER_REAL, _PUT_OFF_S)
        came.append(number)

    before = signal.signal(signal.SIGALRM, _leave)
    signal.signal(signal.SIGTERM, put_off)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGTERM, _leave)
        if came:
            signal.raise_signal(signal.SIGTERM)


class _Leave(BaseException):
    """This process must end; its job is not at fault."""


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _Leave
