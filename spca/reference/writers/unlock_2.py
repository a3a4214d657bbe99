"""Missions about locked doors: open one, get to the goal behind it, or get a thing that one bars."""

import re

COLOUR = "red|green|blue|purple|yellow|grey"
DOOR = re.compile(
    f"(?:get the (?P<key>{COLOUR}) key from the (?P<room>{COLOUR}) room, )?(?:open|unlock|use the key to open) "
    f"the (?:(?P<colour>{COLOUR}) )?door(?P<goal> and (?:then )?(?:go|get) to the goal)?"
)
THING = re.compile(
    f"(?:(?P<visit>go to)|pick up|get|fetch) (?:the|an?) (?:(?P<colour>{COLOUR}) )?(?P<kind>ball|box|key|object)"
)


def known_things(snapshot):
    """Return what is known as (kind, colour, state, row, column)."""
    places = snapshot["known_objects"].items()
    return [(*(*words.split(), "")[:3], *cell) for words, cells in places for cell in cells]


def has_key(snapshot, colour):
    """Whether a key of that colour is in hand or in sight."""
    things = [snapshot["inventory"] or "", *snapshot["known_objects"]]
    return any(words.split()[:2] == ["key", colour] for words in things)


def is_blocked(things, door):
    """Whether something stands right before a door; the door's own key is no obstacle."""
    beside = [thing for thing in things if abs(thing[3] - door[3]) + abs(thing[4] - door[4]) == 1]
    return any(thing[0] not in ("door", "goal") and thing[:2] != ("key", door[1]) for thing in beside)


def named_doors(snapshot, things, match):
    """Return the doors that a mission may mean; they have to be locked."""
    if match["key"] not in (None, match["colour"]):
        raise ValueError("the key is for another door")
    if match["goal"] and any("~" in row for row in snapshot["map"]):
        raise ValueError("lava lies before the goal")
    doors = [thing for thing in things if thing[0] == "door" and match["colour"] in (thing[1], None)]
    if any(door[2] != "locked" for door in doors):
        raise ValueError("another door may be meant than a locked one")
    return doors


def barring_doors(snapshot, things, match):
    """Return the locked doors of the one colour that seems to bar the way to a thing, if there is one."""
    if any(match["kind"] in (thing[0], "object") and match["colour"] in (thing[1], None) for thing in things):
        raise ValueError("the thing is in sight")
    locked = [thing for thing in things if thing[2] == "locked"]
    if not locked:
        raise ValueError("no locked door is known")
    with_key = {door[1] for door in locked if has_key(snapshot, door[1])}
    likely = with_key if len(with_key) == 1 else {door[1] for door in locked}
    return [door for door in locked if {door[1]} == likely]


def make_problem(snapshot):
    """Return the problem of unlocking what has to be unlocked, and of what is to be done then."""
    if "lock" not in snapshot["level"]["category"]:
        raise ValueError("the level is not about locks")
    named, thing = DOOR.fullmatch(snapshot["mission"]), THING.fullmatch(snapshot["mission"])
    if not named and not thing:
        raise ValueError("cannot read: " + snapshot["mission"])
    things, held = known_things(snapshot), snapshot["inventory"]
    doors = named_doors(snapshot, things, named) if named else barring_doors(snapshot, things, thing)
    objects, facts, hand = {}, [], "_".join(held.split()[:2]) if held else ""
    search = False
    if named or doors:
        colours = {door[1] for door in doors} or {named["colour"] or "any"}
        key = f"key_{colours.pop() if len(colours) == 1 else 'any'}"
        door = f"door_{named['colour'] or 'any'}" if named else key.replace("key", "door")
        objects |= {door: "door", key: "thing"}
        facts.append(f"(fits {key} {door})")
        if not any(is_blocked(things, door) for door in doors):
            facts.append(f"(clear {door})")
        if hand.startswith("key") and key in (hand, "key_any"):
            hand = key
        room = named and named["room"]
        if room and not has_key(snapshot, key[4:]) and f"door {room} open" not in snapshot["known_objects"]:
            objects[f"door_{room}"] = "door"
            facts.append(f"(unlocked door_{room})")
            search = True
    else:
        facts.append("(way_open a1)")
    if not search:
        facts.append("(informed a1)")
    if named and not named["goal"]:
        goal = f"(opened {door})"
    elif named:
        objects["goal_green"], goal = "goal", "(reached goal_green)"
    else:
        wanted = f"{thing['kind']}_{thing['colour'] or 'any'}"
        objects[wanted], goal = "thing", f"({'announced' if thing['visit'] else 'picked'} {wanted})"
    if hand:
        objects.setdefault(hand, "thing")
    facts.append(f"(holding a1 {hand})" if hand else "(hand_empty a1)")
    return f"""(define (problem mission)
  (:domain unlock)
  (:objects a1 - agent {" ".join(f"{name} - {kind}" for name, kind in objects.items())})
  (:init {" ".join(facts)})
  (:goal (and {goal})))
"""
