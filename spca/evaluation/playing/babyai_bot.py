"""The BabyAI bot, for comparison: minigrid's own solver plays the same episodes, in a separate process.

The bot (``minigrid.utils.baby_ai_bot``) is a program with a stack of subgoals, and knows only what its agent has seen.
On some levels the bot changes its subgoals forever without ever acting. Such an episode ends after :data:`PLAN_CHANGES`
changes, so that the result does not depend on the machine. If the process hangs for another reason, the kernel kills
the process after :data:`CPU_LIMIT_S`.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Self, SupportsIndex

from spca.common.plugins.plugin_records import PluginRecord
from spca.common.text import one_line
from spca.contracts import LevelSpec
from spca.evaluation.proof.simulator import open_simulator
from spca.plugins.loaded import loaded_plugins
from spca.plugins.named import load_same_plugins

UNSUPPORTED: Final = "unsupported: the bot reads the instructions of BabyAI, which this environment lacks"
HUNG: Final = "hung: the bot changes its plan without end"
KILLED: Final = "hung: the bot's process was ended"

CPU_LIMIT_S: Final = 60.0
"""Processor time, in seconds, after which an episode's process is killed; the slowest of 850 episodes took 0.6 s."""

WALL_LIMIT_S: Final = 1_800.0
"""Wall time, in seconds, after which an episode's process is killed even if it does not use the processor."""

PLAN_CHANGES: Final = 1_000
"""Largest number of changes of the bot's subgoals between two primitives; solved episodes needed at most 12."""

_MAX_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class BotEpisode:
    """The bot's result in an episode.

    Attributes:
        steps: number of primitives that the bot carried out.
        reason: why the bot failed; "" if the bot solved the episode.
    """

    solved: bool
    steps: int
    reason: str


class BotPeer:
    """The bot in a separate process, which starts with the first episode, and again with the next episode after a kill.

    Args:
        upstream_rules: whether to judge as minigrid does, without :mod:`spca.act.corrections`.
        cpu_limit: largest processor time for an episode, in seconds.
    """

    def __init__(self, *, upstream_rules: bool = False, cpu_limit: float = CPU_LIMIT_S) -> None:
        self._upstream_rules = upstream_rules
        self._cpu_limit = cpu_limit
        self._process: BaseProcess | None = None
        self._connection: Connection[Any, Any]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def play(self, level: LevelSpec | str, seed: int) -> BotEpisode:
        """Have the bot play an episode to its end and return the result.

        If the bot or the environment raises an exception, the result's reason names the exception.
        """
        if self._process is None:
            self._start()
        try:
            self._connection.send((level, seed))
            if self._connection.poll(WALL_LIMIT_S):
                episode: BotEpisode = self._connection.recv()
                return episode
        except (EOFError, OSError):  # the process was killed during the episode
            pass
        except BaseException:  # a late result of this episode must not be taken for the result of the next episode
            self._end()
            raise
        self._end()
        return BotEpisode(False, 0, KILLED)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, child_connection = context.Pipe()
        args = (child_connection, self._upstream_rules, self._cpu_limit, loaded_plugins())
        with child_connection:
            process = context.Process(target=_serve, args=args, daemon=True)
            process.start()
        self._process = process

    def _end(self) -> None:
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(
    connection: Connection[Any, Any], upstream_rules: bool, cpu_limit: float, plugins: Sequence[PluginRecord]
) -> None:
    """Receive pairs (level, seed), play each episode and send the result.

    The loop ends when the connection is closed or the parent process is gone.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # The timer below sends SIGPROF, whose default action ends the process even if the process never returns to Python.
    signal.signal(signal.SIGPROF, signal.SIG_DFL)
    threading.Thread(target=_follow_parent, daemon=True).start()
    load_same_plugins(plugins)
    with contextlib.suppress(EOFError, OSError):
        while True:
            level, seed = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, cpu_limit)
            with contextlib.redirect_stdout(io.StringIO()):
                episode = play(level, seed, upstream_rules)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(episode)


def _follow_parent() -> None:
    """Wait until the parent process is gone, then kill this process, even if its main thread is busy."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def play(level: LevelSpec | str, seed: int, upstream_rules: bool) -> BotEpisode:
    """Have the bot play an episode in this process and return the result; see :meth:`BotPeer.play`."""
    steps = 0
    try:
        simulator = open_simulator(level, seed, upstream_rules)
        if not hasattr(simulator, "instrs"):
            return BotEpisode(False, 0, UNSUPPORTED)
        from minigrid.utils import baby_ai_bot

        library: Any = baby_ai_bot
        bot = library.BabyAIBot(simulator)
        action = None
        over = False
        reward = 0.0
        while not over:
            bot.stack = _Stack(bot.stack)  # a new stack begins a new count of changes
            action = bot.replan(action)
            _, reward, terminated, truncated, _ = simulator.step(action)
            steps += 1
            over = bool(terminated or truncated)
    except _HungError:
        return BotEpisode(False, steps, HUNG)
    except Exception as error:  # boundary: assertions of the bot fail, and levels raise errors of any class
        reason = one_line(f"{type(error).__name__}: {error}").rstrip(": ")
        return BotEpisode(False, steps, reason[:_MAX_REASON])
    if terminated and reward > 0:
        return BotEpisode(True, steps, "")
    return BotEpisode(False, steps, "the bot broke a rule" if terminated else "the step limit was reached")


class _HungError(Exception):
    """The bot has changed its subgoals more than :data:`PLAN_CHANGES` times without acting."""


class _Stack(list[Any]):
    """The bot's stack of subgoals; the list raises :class:`_HungError` after more than :data:`PLAN_CHANGES` changes."""

    _changes = 0

    def append(self, subgoal: Any) -> None:
        self._count_change()
        super().append(subgoal)

    def pop(self, index: SupportsIndex = -1) -> Any:
        self._count_change()
        return super().pop(index)

    def _count_change(self) -> None:
        self._changes += 1
        if self._changes > PLAN_CHANGES:
            raise _HungError
