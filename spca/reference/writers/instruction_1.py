"""Missions that ask to go to one thing or door."""

import re

MISSION = re.compile(
    r"go to (?:the|an?) (?:(?P<colour>red|green|blue|purple|yellow|grey) )?(?P<kind>ball|box|key|door|object)"
)


def make_problem(snapshot):
    """Return the problem of going there and saying so; locked doors and a full hand are refused."""
    match = MISSION.fullmatch(snapshot["mission"])
    if not match:
        raise ValueError("not just a thing to go to: " + snapshot["mission"])
    if "lock" in snapshot["level"]["category"] or snapshot["inventory"]:
        raise ValueError("locked doors and things in hand are not looked at")
    name = f"{match['kind']}_{match['colour'] or 'any'}"
    return f"""(define (problem mission)
  (:domain instruction)
  (:objects a1 - agent {name} - {"door" if match["kind"] == "door" else "thing"})
  (:init (hand_empty a1))
  (:goal (and (announced {name}))))
"""
