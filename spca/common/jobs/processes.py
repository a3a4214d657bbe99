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

_EXIT_TIMEOUT_S: Final = 5.0
"""Seconds that the parent waits for a worker process to exit before the parent kills the process."""
_MAX_DELAY_S: Final = 4.0
"""Seconds for which :func:`unbroken` delays the end of a worker; less than :data:`_EXIT_TIMEOUT_S`."""


def do_in_processes(setup: Setup[J, R], jobs: Sequence[J], workers: int) -> Generator[tuple[int, R]]:
    """Do jobs in worker processes; yield index and result of each job. A single worker works in this process.

    If a process dies, its job is tried once more. If the process of the second try dies, too, the job is lost.

    Raises:
        SPCAError: no job can be done, or processes cannot be started; ``setup`` determines the type of the error.
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
    """A worker process; ``job`` is the job in progress, None if the worker is idle."""

    process: BaseProcess
    connection: Connection[Any, Any]
    ready: bool = False
    job: J | None = None


class _Pool(Generic[J, R]):
    """At most ``size`` worker processes, each of which does one job at a time."""

    def __init__(self, setup: Setup[J, R], size: int) -> None:
        self._setup = setup
        self._size = size
        self._workers: list[_Worker[J]] = []
        self._queue: deque[J] = deque()
        self._tries: Counter[int] = Counter()

    def do(self, jobs: Sequence[J]) -> Generator[tuple[int, R]]:
        """Yield the index and the result of every job, in the order in which the jobs finish."""
        self._queue.extend(jobs)
        while self._queue or any(worker.job for worker in self._workers):
            self._assign_jobs()
            busy = {worker.connection: worker for worker in self._workers if worker.job}
            for connection in wait(list(busy)):
                yield from self._receive(busy[connection])  # type: ignore[index]

    def _assign_jobs(self) -> None:
        """Send queued jobs to idle workers, until the queue is empty or no worker is idle."""
        while self._queue and (worker := self._find_idle_worker()):
            worker.job = self._queue.popleft()
            with suppress(OSError):  # the worker died while idle; the next wait() reports the death
                worker.connection.send(worker.job)

    def close(self) -> None:
        """End every process: a busy process at once, an idle process after it has released its resources."""
        try:
            self._release()
        finally:  # also after a second Ctrl-C, which interrupts the wait
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()
            self._workers.clear()

    def _release(self) -> None:
        """Ask all processes to exit, and wait :data:`_EXIT_TIMEOUT_S` for each."""
        for worker in self._workers:
            if worker.job is None:
                with suppress(OSError):
                    worker.connection.send(None)  # None ends the loop of _work
            else:
                _LOG.debug("worker process %s is terminated in the middle of a job", worker.process.pid)
                worker.process.terminate()
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(_EXIT_TIMEOUT_S)

    def _find_idle_worker(self) -> _Worker[J] | None:
        """Return an idle worker; if all workers are busy, start a new one.

        Return None if all workers are busy and the pool already has ``size`` of them.
        """
        for worker in self._workers:
            if worker.job is None:
                return worker
        if len(self._workers) < self._size:
            self._workers.append(self._start())
            return self._workers[-1]
        return None

    def _start(self) -> _Worker[J]:
        """Start a worker process.

        Raises:
            SPCAError: the setup cannot be pickled.
        """
        context = multiprocessing.get_context("spawn")
        parent_end, worker_end = context.Pipe()
        process = context.Process(target=_serve, args=(worker_end, self._setup, worker_log()))
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            terms = self._setup.terms
            why = f"this {terms.doer} cannot be sent to worker processes ({error}); use --workers 1"
            raise terms.error(why) from error
        finally:
            worker_end.close()
        _LOG.debug("worker process %s started", process.pid)
        return _Worker(process, parent_end)

    def _receive(self, worker: _Worker[J]) -> Generator[tuple[int, R]]:
        """Handle a message of a worker, or its death; yield the index and the result if a job is finished or lost.

        A message is ("ready", None), ("result", RESULT) or ("failed", ERROR).
        """
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._remove_dead(worker)
            return
        if kind == "failed":
            raise content
        if kind == "ready":
            worker.ready = True
        elif worker.job is not None:
            job = worker.job
            worker.job = None
            yield job.index, content

    def _remove_dead(self, worker: _Worker[J]) -> Generator[tuple[int, R]]:
        """Remove a dead worker; put its job back into the queue, or yield a lost result after the last try.

        Raises:
            SPCAError: the worker died before it was ready, so that further workers would die, too.
        """
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
            lost = self._setup.make_lost_result(worker.job, f"its worker process ended with code {code}")
            yield worker.job.index, lost


def _serve(connection: Connection[Any, Any], setup: Setup[J, R], log: WorkerLog) -> None:
    """Do jobs in a worker process until the parent sends None or the process is terminated.

    Ctrl-C is ignored, because the parent handles it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, _Leave):
        try:
            signal.signal(signal.SIGTERM, _leave)
            threading.Thread(target=_exit_with_parent, daemon=True).start()
            with log.open_log():
                _work(connection, setup)
        finally:  # from now on SIGTERM ends the process directly, because no code below catches _Leave
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _work(connection: Connection[Any, Any], setup: Setup[J, R]) -> None:
    """Prepare this worker, do the jobs that the parent sends, and send a message after each job.

    :meth:`_Pool._receive` describes the messages.
    """
    try:
        with setup.start_worker() as do:
            connection.send(("ready", None))
            while (job := connection.recv()) is not None:
                connection.send(_do_job(setup, do, job))
    except (setup.unusable, ImportError) as error:
        connection.send(_make_unusable_message(setup, error))


def _make_unusable_message(setup: Setup[J, R], error: Exception) -> tuple[str, Exception]:
    """Return the message that reports ``error`` to the parent; because of this error, no job can be done.

    Must be called in the ``except`` block of the error, because the message contains the current traceback.
    """
    return "failed", _make_picklable(unusable(setup, error), setup.unusable, traceback.format_exc())


def _exit_with_parent() -> None:
    """Terminate this process once its parent has ended, because an orphan's jobs may cost money."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _do_job(setup: Setup[J, R], do: Callable[[J], R], job: J) -> tuple[str, Any]:
    """Do a job and return the message for the parent. An error ends the whole run, as in a single process."""
    try:
        return "result", do(job)
    except (setup.unusable, ImportError) as error:
        return _make_unusable_message(setup, error)
    except Exception as error:  # any error must reach the parent, such as a full disk, a closed pipe or a bug
        return "failed", _make_picklable(error, setup.terms.error, traceback.format_exc())


def _make_picklable(error: Exception, plain: type[SPCAError], formatted_traceback: str) -> Exception:
    """Return ``error`` with its traceback as a note.

    If ``error`` cannot be pickled, return another error with the same message. Its type is ``plain`` if ``error`` is an
    SPCAError, else RuntimeError.
    """
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 - our own
    except Exception:  # unpickling calls the constructor of the error, which may raise anything
        message_with_type = f"{type(error).__name__}: {error}"
        error = plain(str(error)) if isinstance(error, SPCAError) else RuntimeError(message_with_type)
    error.add_note(formatted_traceback)
    return error


@contextmanager
def unbroken() -> Iterator[None]:
    """Delay SIGTERM in a worker process until the block ends, so that a paid answer can be saved.

    The delay is at most :data:`_MAX_DELAY_S`, because the parent kills the process soon after. Outside of the main
    thread of a worker process, nothing is delayed.
    """
    is_worker = signal.getsignal(signal.SIGTERM) is _leave
    if not is_worker or threading.current_thread() is not threading.main_thread():
        yield
        return
    delayed_signals: list[int] = []

    def delay(number: int, _frame: FrameType | None) -> None:
        if not delayed_signals:
            signal.setitimer(signal.ITIMER_REAL, _MAX_DELAY_S)
        delayed_signals.append(number)

    alarm_handler = signal.signal(signal.SIGALRM, _leave)
    signal.signal(signal.SIGTERM, delay)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm_handler)
        signal.signal(signal.SIGTERM, _leave)
        if delayed_signals:
            signal.raise_signal(signal.SIGTERM)


class _Leave(BaseException):
    """Raised in a worker process that must end, although its job has not failed."""


def _leave(number: int, frame: FrameType | None) -> None:
    """Handle a signal by raising :class:`_Leave`."""
    del number, frame
    raise _Leave
