"""Missions that end on the goal square, whatever lies before it: lava, rooms, obstacles that move."""

import re

MISSION = re.compile(
    r"(?:find the opening and |(?P<lava>avoid the lava and )|(?P<rooms>traverse the rooms to ))?"
    r"(?:get to|go to|reach) (?:the goal|the green goal square)"
)


def make_problem(snapshot):
    """Return the problem of getting to the goal; a fact tells what kind of way leads there."""
    mission, category = snapshot["mission"], snapshot["level"]["category"]
    match = MISSION.fullmatch(mission)
    if not match:
        raise ValueError(f"not only about the goal: {mission}")
    if "dynamic" in category:
        way = "beyond_moving_obstacles"
    elif match["lava"] or "hazard" in category or any("~" in row for row in snapshot["map"]):
        way = "beyond_lava"
    else:
        way = "beyond_rooms" if match["rooms"] else "beyond_ground"
    return f"""(define (problem mission)
  (:domain reach_goal)
  (:objects a1 - agent goal_green - goal)
  (:init ({way} goal_green))
  (:goal (and (reached goal_green))))
"""
