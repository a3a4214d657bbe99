"""The BabyAI bot as a peer: minigrid's own solver plays the same episodes, in a process of its own.

The bot (``minigrid.utils.baby_ai_bot``) is a program with a plan of subgoals that sees what its agent has seen. On some
levels it changes its plan forever without ever acting; such an episode ends after a number of changes, so that the
result does not depend on the machine. What hangs in any other way is killed by the kernel after :data:`CPU_LIMIT_S`.
"""

from __future__ import annotations

import contextlib
import io
import multiprocessing
import os
import signal
import threading
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, Final, Self, SupportsIndex

from spca.common.text import one_line
from spca.evaluation.proof.simulator import opened

UNSUPPORTED: Final = "unsupported: the bot reads the instructions of BabyAI, which this environment lacks"
HUNG: Final = "hung: the bot changes its plan without end"
KILLED: Final = "hung: the bot's process was ended"

CPU_LIMIT_S: Final = 60.0
"""Processor time of an episode after which its process is killed; the slowest of 850 measured took 0.6 s."""

WALL_LIMIT_S: Final = 1_800.0
"""Time after which a process that uses no processor is killed."""

PLAN_CHANGES: Final = 1_000
"""Changes of the bot's plan before one primitive; 12 is the most that an episode which goes on was seen to need."""

_LONGEST_REASON: Final = 200


@dataclass(frozen=True, slots=True)
class BotEpisode:
    """How the bot did: primitives that it carried out, and why it failed, "" where it solved the episode."""

    solved: bool
    steps: int
    reason: str


class BotPeer:
    """The bot in a process that is started when it is first needed, and again after it had to be killed.

    Args:
        upstream_rules: judge as minigrid does, without :mod:`spca.act.corrections`.
        cpu_limit: seconds of processor time for an episode.
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

    def play(self, env_id: str, seed: int) -> BotEpisode:
        """Have the bot play an episode until it ends; an exception of the bot or the environment is its reason."""
        if self._process is None:
            self._start()
        try:
            self._connection.send((env_id, seed))
            if self._connection.poll(WALL_LIMIT_S):
                episode: BotEpisode = self._connection.recv()
                return episode
        except (EOFError, OSError):  # killed while it played
            pass
        except BaseException:  # its answer to this episode must not be taken for that to another one
            self._end()
            raise
        self._end()
        return BotEpisode(False, 0, KILLED)

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        with theirs:
            process = context.Process(target=_serve, args=(theirs, self._upstream_rules, self._cpu_limit), daemon=True)
            process.start()
        self._process = process

    def _end(self) -> None:
        if self._process is not None:
            self._connection.close()
            self._process.kill()
            self._process.join()
            self._process = None


def _serve(connection: Connection[Any, Any], upstream_rules: bool, cpu_limit: float) -> None:
    """Play what comes until the connection is closed, or the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGPROF, signal.SIG_DFL)  # which ends the process, whatever it does
    threading.Thread(target=_follow_parent, daemon=True).start()
    with contextlib.suppress(EOFError, OSError):
        while True:
            env_id, seed = connection.recv()
            signal.setitimer(signal.ITIMER_PROF, cpu_limit)
            with contextlib.redirect_stdout(io.StringIO()):
                episode = play(env_id, seed, upstream_rules)
            signal.setitimer(signal.ITIMER_PROF, 0)
            connection.send(episode)


def _follow_parent() -> None:
    """Kill this process once its parent is gone, however busy it is."""
    if parent := multiprocessing.parent_process():
        wait([parent.sentinel])
        os.kill(os.getpid(), signal.SIGKILL)


def play(env_id: str, seed: int, upstream_rules: bool) -> BotEpisode:
    """Play an episode in this process; see :meth:`BotPeer.play`."""
    steps = 0
    try:
        simulator = opened(env_id, seed, upstream_rules)
        if not hasattr(simulator, "instrs"):
            return BotEpisode(False, 0, UNSUPPORTED)
        from minigrid.utils import baby_ai_bot

        library: Any = baby_ai_bot
        bot = library.BabyAIBot(simulator)
        action = None
        over = False
        reward = 0.0
        while not over:
            bot.stack = _Stack(bot.stack)
            action = bot.replan(action)
            _, reward, terminated, truncated, _ = simulator.step(action)
            steps += 1
            over = bool(terminated or truncated)
    except _HungError:
        return BotEpisode(False, steps, HUNG)
    except Exception as error:  # boundary: the bot asserts what it takes for granted, levels raise anything
        said = one_line(f"{type(error).__name__}: {error}").rstrip(": ")
        return BotEpisode(False, steps, said[:_LONGEST_REASON])
    if terminated and reward > 0:
        return BotEpisode(True, steps, "")
    return BotEpisode(False, steps, "the bot broke a rule" if terminated else "the step limit was reached")


class _HungError(Exception):
    """The bot has changed its plan too often before one primitive."""


class _Stack(list[Any]):
    """The bot's plan, which it may change a limited number of times."""

    _changes = 0

    def append(self, subgoal: Any) -> None:
        self._count()
        super().append(subgoal)

    def pop(self, index: SupportsIndex = -1) -> Any:
        self._count()
        return super().pop(index)

    def _count(self) -> None:
        self._changes += 1
        if self._changes > PLAN_CHANGES:
            raise _HungError
