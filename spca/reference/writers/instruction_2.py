"""Missions of clauses in any order: go to, pick up and open things, and put them down beside others."""

import re

SOME = "(?:the|an?) (?:(?:red|green|blue|purple|yellow|grey) )?"
PLACE = "(?: (?:in front of you|behind you|on your left|on your right))?"
THING = f"({SOME}(?:ball|box|key|object){PLACE})"
ITEM = f"({SOME}(?:ball|box|key|object|door){PLACE})"
CLAUSES = {
    "visited": f"go to {ITEM}",
    "picked": f"(?:pick up|get|go get|fetch|go fetch|you must fetch) {THING}",
    "opened": f"open ({SOME}(?:box|door){PLACE})",
    "placed": f"put {THING} next to {ITEM}",
    "placed_near": f"put {THING} near {ITEM}",
}
"""The fact that a clause makes true, and how it is said."""


def read(words):
    """Return the fact that a clause asks for: ("picked", "ball_red_left")."""
    for fact, form in CLAUSES.items():
        match = re.fullmatch(form, words)
        if match:
            return (fact, *map(name_of, match.groups()))
    raise ValueError("cannot read: " + words)


def name_of(words):
    """Return the name of a description; what it leaves open is "any"."""
    colour = re.search("red|green|blue|purple|yellow|grey", words)
    kind = re.search("ball|box|key|object|door", words)
    place = re.search("left|right|front|behind", words)
    return "_".join([kind[0], colour[0] if colour else "any", *([place[0]] if place else [])])


def fits(name, words):
    """Whether a name may mean what the map or the hand calls by these words ("door red locked")."""
    (kind, colour), known = name.split("_")[:2], words.split()
    return kind in (known[0], "object") and colour in (known[1], "any")


def check_locks(snapshot, goal):
    """Refuse a goal that a locked door may keep the agent from."""
    fact, name = goal[:2]
    about_locks = "lock" in snapshot["level"]["category"]
    known = [words for words in snapshot["known_objects"] if fits(name, words)]
    if name.startswith("door"):
        unseen = not known and about_locks and "open the " in snapshot["mission"]
        if fact == "opened" and (unseen or known) and all(words.endswith("locked") for words in known):
            raise ValueError("the door to open may be locked")
    elif about_locks and not known and any(words.endswith("locked") for words in snapshot["known_objects"]):
        raise ValueError("a locked door may bar the way")


def make_problem(snapshot):
    """Return the problem of all clauses; an order among them, and locks, are refused."""
    goals = [read(clause) for clause in snapshot["mission"].split(" and ")]
    for goal in goals:
        check_locks(snapshot, goal)
    if len(goals) == 1 and goals[0][0] == "visited":
        goals = [("announced", goals[0][1])]
    if len(goals) == 1 and goals[0][0] == "picked" and "pickup_only" in snapshot["level"]["category"]:
        goals = [("picked_alone", goals[0][1])]
    held = snapshot["inventory"]
    if held and any(fact in ("visited", "announced") for fact, *_ in goals):
        raise ValueError("going to something with a full hand")
    put = [name for fact, name, *_ in goals if fact in ("placed", "placed_near")]
    in_hand = next((name for name in put if fits(name, held)), "_".join(held.split()[:2])) if held else ""
    names = dict.fromkeys(name for goal in [*goals, ("", in_hand)] for name in goal[1:] if name)
    objects = " ".join(f"{name} - {'door' if name.startswith('door') else 'thing'}" for name in names)
    wanted = " ".join(f"({' '.join(goal)})" for goal in dict.fromkeys(goals))
    return f"""(define (problem mission)
  (:domain instruction)
  (:objects a1 - agent {objects})
  (:init {f"(holding a1 {in_hand})" if held else "(hand_empty a1)"})
  (:goal (and {wanted})))
"""
