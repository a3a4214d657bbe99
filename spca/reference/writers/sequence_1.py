"""Missions in parts that come one after the other; the clauses of a part are done in any order."""

import re

SOME = "(?:the|an?) (?:(?:red|green|blue|purple|yellow|grey) )?"
PLACE = "(?: (?:in front of you|behind you|on your left|on your right))?"
THING = f"({SOME}(?:ball|box|key|object){PLACE})"
ITEM = f"({SOME}(?:ball|box|key|object|door){PLACE})"
CLAUSES = {
    "visited": f"go to {ITEM}",
    "picked": f"pick up {THING}",
    "opened": f"open ({SOME}(?:box|door){PLACE})",
    "placed": f"put {THING} next to {ITEM}",
    "placed_near": f"put {THING} near {ITEM}",
}
"""The fact that a clause makes true, and how it is said."""


def parts_of(mission):
    """Return the clauses of each part, first things first; a verb that is said once for several things is repeated."""
    groups, verb = [[[]]], ""
    for piece in re.split("(,? then | after you | and )", mission):
        if piece.endswith(" then "):
            groups.append([[]])
        elif piece == " after you ":
            groups[-1].insert(0, [])
        elif piece != " and ":
            elided = re.match("the |an? ", piece)
            verb = verb if elided else piece.partition(" the ")[0].partition(" a ")[0]
            groups[-1][0].append(f"{verb} {piece}" if elided else piece)
    return [part for group in groups for part in group]


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


def check_locks(snapshot, goal):
    """Refuse a goal that a locked door may keep the agent from."""
    locked = [words.split() for words in snapshot["known_objects"] if words.endswith("locked")]
    kind, colour = goal[1].split("_")[:2]
    if "lock" in snapshot["level"]["category"] and locked:
        raise ValueError("a locked door may bar the way")
    if goal[0] == "opened" and kind == "door" and any(colour in (words[1], "any") for words in locked):
        raise ValueError("the door to open may be locked")


def may_be_one(name, other):
    """Whether two names may mean one thing."""
    pairs = zip(name.split("_")[:2], other.split("_")[:2], strict=True)
    return all(a == b or {a, b} & {"any", "object"} for a, b in pairs)


def make_problem(snapshot):
    """Return the problem of doing one part after the other; what is acted on in two parts, or locked, is refused."""
    parts = [list(dict.fromkeys(map(read, part))) for part in parts_of(snapshot["mission"])]
    goals = [goal for part in parts for goal in part]
    if len(parts) < 2 or snapshot["inventory"]:
        raise ValueError("not several parts, begun with an empty hand")
    if len({goal[1] for goal in goals}) < len(goals):
        raise ValueError("a thing is acted on twice")
    for goal in goals:
        check_locks(snapshot, goal)
    facts = ["(hand_empty a1)"]
    for earlier, later in zip(parts[:-1], parts[1:], strict=True):
        done = [(goal[0].removesuffix("_near"), goal[1]) for goal in earlier]
        facts += [f"(after_{fact} {goal[1]} {name})" for goal in later for fact, name in done]
    facts += [f"(to_be_{fact} {' '.join(names)})" for fact, *names in goals if len(names) > 1]
    carried = [goal[1] for goal in goals if goal[0] in ("picked", "placed", "placed_near")]
    visited = [goal[1] for goal in goals if goal[0] == "visited"]
    facts += [f"(may_be_carried {name})" for name in visited if any(may_be_one(name, other) for other in carried)]
    names = dict.fromkeys(name for goal in goals for name in goal[1:])
    objects = " ".join(f"{name} - {'door' if name.startswith('door') else 'thing'}" for name in names)
    return f"""(define (problem mission)
  (:domain sequence)
  (:objects a1 - agent {objects})
  (:init {" ".join(facts)})
  (:goal (and {" ".join(f"({' '.join(goal)})" for goal in goals)})))
"""
