"""Missions: goals, one or several in order, and what has been achieved of them.

The progress of a mission is a tuple with one entry for each of its goals: not begun, begun, met. A goal that waits for
another one has not begun, which minigrid's verifier tells apart from one that was looked at before.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from spca.evaluation.proof.dynamics import End, Maze, MazeState, apply_primitive
from spca.evaluation.proof.goals import Goal, Reach, Transition

FRESH: Final = 0
BEGUN: Final = 1
MET: Final = 2

FURTHER: Final = 100

Progress = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mission:
    """Goals by number, the groups that they are to be met in (in any order within a group), and how it is judged.

    ``forgiving``: as :mod:`spca.act.corrections` has it, the primitive that completes the first group is not held
    against the second one.
    """

    goals: tuple[Goal, ...]
    groups: tuple[tuple[int, ...], ...]
    forgiving: bool = True

    @property
    def careful(self) -> bool:
        """Whether doors on the way must not be opened."""
        return any(goal.careful for goal in self.goals)

    @property
    def begin(self) -> Progress:
        return (FRESH,) * len(self.goals)

    def find_open_goals(self, progress: Progress) -> Iterator[Goal]:
        """Return the goals that have not been met."""
        return (goal for goal, flag in zip(self.goals, progress, strict=True) if flag != MET)

    def due(self, progress: Progress) -> Iterator[Goal]:
        """Return the goals of the group whose turn it is that have not been met."""
        group = next(group for group in self.groups if any(progress[number] != MET for number in group))
        return (self.goals[number] for number in group if progress[number] != MET)

    def cost(self, reach: Reach) -> float:
        """Return the steps that are left: a lower bound if those of ``reach`` are, else an estimate.

        The estimate looks at the nearest goal whose turn it is, and takes each further one for :data:`FURTHER` steps:
        costs of several goals pull the agent in several directions at once.
        """
        progress = reach.state.progress
        largest = max(goal.cost(reach) for goal in self.find_open_goals(progress))
        if reach.bound or math.isinf(largest):
            return largest
        further = sum(flag != MET for flag in progress) - 1
        nearest = min(goal.cost(reach) for goal in self.due(progress))
        return nearest + FURTHER * further

    def judge(self, maze: Maze, before: MazeState, action: int, after: MazeState) -> tuple[Progress, End]:
        """Return progress and end after a primitive, as the verifier of minigrid comes to it."""
        flags = list(before.progress)
        end = End.NONE
        completed = False
        for group in self.groups:
            if all(flags[number] == MET for number in group):
                continue
            end = self._judge_group(group, flags, maze, before, action, after)
            if end == End.FAILURE and completed and self.forgiving:
                end = End.NONE
            if end != End.SUCCESS:
                break
            completed = True
        return tuple(flags), end

    def _judge_group(
        self, group: tuple[int, ...], flags: list[int], maze: Maze, before: MazeState, action: int, after: MazeState
    ) -> End:
        """Judge the goals of a group that are not met; several of them never fail (``AndInstr``)."""
        end = End.NONE
        for number in group:
            if flags[number] != MET:
                step = Transition(maze, before, action, after, flags[number] == BEGUN)
                end = self.goals[number].verify(step)
                flags[number] = MET if end == End.SUCCESS else BEGUN
        if len(group) == 1:
            return end
        return End.SUCCESS if all(flags[number] == MET for number in group) else End.NONE


def step_mission(maze: Maze, mission: Mission, state: MazeState, action: int) -> tuple[MazeState, End]:
    """Return the state after a primitive and how it ended the episode; the step limit is the caller's."""
    after, end = apply_primitive(maze, state, action)
    if end != End.NONE:
        return after, end
    progress, end = mission.judge(maze, state, action, after)
    return MazeState(*after[:-1], progress), end
