"""Missions: groups of goals that must be met in order, and the progress of a mission.

The progress of a mission is a tuple with a flag for each goal: :data:`FRESH`, :data:`BEGUN` or :data:`MET`. A goal has
begun when minigrid's verifier has judged a primitive for the goal. The goals of a group cannot begin until all earlier
groups are complete.
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
"""Estimated number of steps for each unmet goal other than the nearest one."""

Progress = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Mission:
    """Goals and the order in which they must be met.

    Attributes:
        goals: all goals; a goal's number is its index.
        groups: numbers of the goals of each group. Groups must be met in order, goals within a group in any order.
        forgiving: whether a primitive that completes a group never fails the next group, as in
            :mod:`spca.act.corrections`.
    """

    goals: tuple[Goal, ...]
    groups: tuple[tuple[int, ...], ...]
    forgiving: bool = True

    @property
    def careful(self) -> bool:
        """Whether the agent must not open doors while it walks, because opening a wrong door would fail the mission."""
        return any(goal.careful for goal in self.goals)

    @property
    def begin(self) -> Progress:
        """The progress at the beginning of an episode."""
        return (FRESH,) * len(self.goals)

    def find_open_goals(self, progress: Progress) -> Iterator[Goal]:
        """Yield the goals that have not been met."""
        return (goal for goal, flag in zip(self.goals, progress, strict=True) if flag != MET)

    def due(self, progress: Progress) -> Iterator[Goal]:
        """Yield the unmet goals of the first group that has an unmet goal."""
        current = next(group for group in self.groups if any(progress[number] != MET for number in group))
        return (self.goals[number] for number in current if progress[number] != MET)

    def cost(self, reach: Reach) -> float:
        """Return the number of steps that the mission still needs.

        If ``reach.bound`` is set, the number is a lower bound. Otherwise, the number is an estimate: the steps to the
        nearest goal of the current group, and :data:`FURTHER` steps for each other unmet goal. The estimate ignores
        where the other goals are, because their distances would pull the agent in several directions at once.
        """
        progress = reach.state.progress
        largest = max(goal.cost(reach) for goal in self.find_open_goals(progress))
        if reach.bound or math.isinf(largest):
            return largest
        other_goals = sum(flag != MET for flag in progress) - 1
        nearest = min(goal.cost(reach) for goal in self.due(progress))
        return nearest + FURTHER * other_goals

    def judge(self, maze: Maze, before: MazeState, action: int, after: MazeState) -> tuple[Progress, End]:
        """Return the progress after a primitive and how the primitive ended the episode, as minigrid's verifier would
        judge.
        """
        flags = list(before.progress)
        end = End.NONE
        has_completed_group = False
        for group in self.groups:
            if all(flags[number] == MET for number in group):
                continue
            end = self._judge_group(group, flags, maze, before, action, after)
            if end == End.FAILURE and has_completed_group and self.forgiving:
                end = End.NONE
            if end != End.SUCCESS:
                break
            has_completed_group = True
        return tuple(flags), end

    def _judge_group(
        self, group: tuple[int, ...], flags: list[int], maze: Maze, before: MazeState, action: int, after: MazeState
    ) -> End:
        """Judge a primitive for the unmet goals of a group, update ``flags``, and return the result for the group.

        The result is ``SUCCESS`` if the group is complete. As in minigrid's ``AndInstr``, a group of several goals
        never fails.
        """
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
    """Return the state after a primitive and how the primitive ended the episode; the caller checks the step limit."""
    after, end = apply_primitive(maze, state, action)
    if end != End.NONE:
        return after, end
    progress, end = mission.judge(maze, state, action, after)
    return MazeState(*after[:-1], progress), end  # ``progress`` is the last field
