"""Missions that ask to open one locked door, with the key still to be fetched."""

import re

MISSION = re.compile("(?:open|unlock) the (?:(?P<colour>red|green|blue|purple|yellow|grey) )?door")


def make_problem(snapshot):
    """Return the problem of fetching the key and unlocking; a door that may be open or blocked is refused."""
    match = MISSION.fullmatch(snapshot["mission"])
    if not match:
        raise ValueError("not just a door to open: " + snapshot["mission"])
    if "lock" not in snapshot["level"]["category"] or snapshot["inventory"]:
        raise ValueError("no word of a lock, or something is in hand")
    doors = [words.split()[1:] for words in snapshot["known_objects"] if words.startswith("door")]
    doors = [(colour, state) for colour, state in doors if match["colour"] in (colour, None)]
    if any(state != "locked" for _, state in doors):
        raise ValueError("another door may be meant than a locked one")
    cells = [cell for words, cells in snapshot["known_objects"].items() for cell in cells]
    if any(abs(r - y) + abs(c - x) == 1 for r, c in cells for y, x in cells):
        raise ValueError("something may stand before the door")
    colours = {colour for colour, _ in doors} | ({match["colour"]} if match["colour"] else set())
    door, key = f"door_{match['colour'] or 'any'}", f"key_{colours.pop() if len(colours) == 1 else 'any'}"
    return f"""(define (problem mission)
  (:domain unlock)
  (:objects a1 - agent {door} - door {key} - thing)
  (:init (hand_empty a1) (fits {key} {door}) (clear {door}))
  (:goal (and (opened {door}))))
"""
