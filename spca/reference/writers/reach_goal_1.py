"""Missions that end on the goal square, over ground that can be walked on."""

import re

MISSION = re.compile(r"(?:find the opening and )?(?:get|go) to (?:the goal|the green goal square)|reach the goal")


def make_problem(snapshot):
    """Return the problem of walking to the goal; hazards and moving obstacles are refused."""
    mission, category = snapshot["mission"], snapshot["level"]["category"]
    if not MISSION.fullmatch(mission):
        raise ValueError(f"not just a walk to the goal: {mission}")
    if "hazard" in category or "dynamic" in category or any("~" in row for row in snapshot["map"]):
        raise ValueError("lava or moving obstacles: not just a walk")
    return """(define (problem mission)
  (:domain reach_goal)
  (:objects a1 - agent goal_green - goal)
  (:init)
  (:goal (and (reached goal_green))))
"""
