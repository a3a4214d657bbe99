"""Tasks played by worker processes of this machine."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections import Counter, deque
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any, Final

from gridworld.errors import EvaluationError, ModelError, missing_part
from gridworld.evaluation.harness import EvaluationHarness
from gridworld.evaluation.running.tasks import EvaluationTask
from gridworld.evaluation.running.worker_setup import TRIES, Finished, WorkerSetup, lost, play_here

_PATIENCE_S: Final = 5.0


def play_in_processes(setup: WorkerSetup, tasks: Sequence[EvaluationTask], workers: int) -> Generator[Finished]:
    """By several processes; the task of a process that dies is begun once more, then recorded as failed.

    Raises:
        ModelError: the model cannot be used.
        EvaluationError: processes cannot be started.
    """
    size = min(workers, len(tasks))
    if size <= 1:
        yield from play_here(setup, tasks, 1)
        return
    with closing(_Pool(setup, size)) as pool:
        yield from pool.play(tasks)


@dataclass(slots=True, eq=False)
class _Worker:
    process: BaseProcess
    connection: Connection[Any, Any]
    ready: bool = False
    task: EvaluationTask | None = None


class _Pool:
    """Processes that take tasks one by one."""

    def __init__(self, setup: WorkerSetup, size: int) -> None:
        self._setup, self._size = setup, size
        self._workers: list[_Worker] = []
        self._queue: deque[EvaluationTask] = deque()
        self._tries: Counter[int] = Counter()

    def play(self, tasks: Sequence[EvaluationTask]) -> Generator[Finished]:
        self._queue.extend(tasks)
        while self._queue or any(worker.task for worker in self._workers):
            while self._queue and (worker := self._free()):
                worker.task = self._queue.popleft()
                with suppress(OSError):  # it died while idle, which its connection tells next
                    worker.connection.send(worker.task)
            busy = {worker.connection: worker for worker in self._workers if worker.task}
            for connection in wait(list(busy)):
                yield from self._receive(busy[connection])  # type: ignore[index]

    def close(self) -> None:
        """End every process: the busy ones at once, the others after they have released their models."""
        try:
            self._release()
        finally:  # whoever presses Ctrl-C again does not want to wait
            for worker in self._workers:
                worker.process.kill()
                worker.process.join()
            self._workers.clear()

    def _release(self) -> None:
        for worker in self._workers:
            if worker.task is None:
                with suppress(OSError):
                    worker.connection.send(None)
            else:
                worker.process.terminate()
            worker.connection.close()
        for worker in self._workers:
            worker.process.join(_PATIENCE_S)

    def _free(self) -> _Worker | None:
        for worker in self._workers:
            if worker.task is None:
                return worker
        if len(self._workers) < self._size:
            self._workers.append(self._start())
            return self._workers[-1]
        return None

    def _start(self) -> _Worker:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._setup))
        try:
            process.start()
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            raise EvaluationError(f"this model cannot be sent to worker processes ({error}); use --workers 1") from None
        finally:
            theirs.close()
        return _Worker(process, ours)

    def _receive(self, worker: _Worker) -> Generator[Finished]:
        try:
            kind, content = worker.connection.recv()
        except (EOFError, OSError):
            yield from self._bury(worker)
            return
        if kind == "unusable":
            raise ModelError(content)
        if kind == "failed":
            raise content
        if kind == "ready":
            worker.ready = True
        elif worker.task is not None:
            task, worker.task = worker.task, None
            yield task.index, content

    def _bury(self, worker: _Worker) -> Generator[Finished]:
        """A worker has died: its task goes back, or is lost if it did so before."""
        worker.process.join()
        worker.connection.close()
        self._workers.remove(worker)
        code = worker.process.exitcode
        if not worker.ready:
            raise EvaluationError(f"a worker process could not start and ended with code {code}; try --workers 1")
        if worker.task is None:
            return
        self._tries[worker.task.index] += 1
        if self._tries[worker.task.index] < TRIES:
            self._queue.appendleft(worker.task)
        else:
            yield worker.task.index, lost(worker.task, self._setup, f"its worker process ended with code {code}")


def _serve(connection: Connection[Any, Any], setup: WorkerSetup) -> None:
    """A worker process: takes tasks until there are none. The terminal's Ctrl-C is its parent's to handle."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(EOFError, BrokenPipeError, ConnectionResetError, _Leave):
        try:
            signal.signal(signal.SIGTERM, _leave)
            threading.Thread(target=_follow_parent, daemon=True).start()
            _work(connection, setup)
        finally:  # from here on nobody catches what asks this process to leave
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _work(connection: Connection[Any, Any], setup: WorkerSetup) -> None:
    try:
        with closing(setup.harness()) as harness:
            connection.send(("ready", None))
            while (task := connection.recv()) is not None:
                connection.send(_judged(harness, task, setup.verbose))
    except ModelError as error:
        connection.send(("unusable", str(error)))
    except ImportError as error:
        connection.send(("unusable", str(missing_part(error, "the evaluation"))))


def _follow_parent() -> None:
    """Ask this process to leave once its parent is gone, however that ended: nobody waits for what a model may cost."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGTERM)


def _judged(harness: EvaluationHarness, task: EvaluationTask, verbose: bool) -> tuple[str, Any]:
    """What to send. What is raised here is not the model's: it ends the evaluation, as it does in one process."""
    try:
        return "result", harness.judge(task.spec, verbose)
    except ModelError as error:
        return "unusable", str(error)
    except ImportError as error:
        return "unusable", str(missing_part(error, "the evaluation"))
    except Exception as error:  # a full disk, output that nobody reads, a defect of ours
        error.add_note(traceback.format_exc())
        return "failed", error


class _Leave(BaseException):
    """This process is to end; no model is blamed for it."""


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    raise _Leave
