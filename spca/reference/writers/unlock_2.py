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


def lock_of(things, doors, colour):
    """Return the names of door and key, and the facts about them, for doors that the mission gives a colour or none."""
    colours = {door[1] for door in doors} or {colour or "any"}
    door, key = f"door_{colour or 'any'}", f"key_{min(colours) if len(colours) == 1 else 'any'}"
    is_clear = not any(is_blocked(things, each) for each in doors)
    return door, key, [f"(fits {key} {door})"] + [f"(clear {door})"] * is_clear


def wanted(named, thing):
    """Return the fact that a mission asks for, what it is about, and of which type that is."""
    if thing:
        return "announced" if thing["visit"] else "picked", f"{thing['kind']}_{thing['colour'] or 'any'}", "thing"
    return (
        ("reached", "goal_green", "goal") if named["goal"] else ("opened", f"door_{named['colour'] or 'any'}", "door")
    )


def make_problem(snapshot):
    """Return the problem of unlocking what has to be unlocked, and of what is to be done then."""
    named, thing = DOOR.fullmatch(snapshot["mission"]), THING.fullmatch(snapshot["mission"])
    if not named and not thing:
        raise ValueError("cannot read: " + snapshot["mission"])
    if "lock" not in snapshot["level"]["category"]:
        raise ValueError("the level is not about locks")
    things, held = known_things(snapshot), snapshot["inventory"]
    doors = named_doors(snapshot, things, named) if named else barring_doors(snapshot, things, thing)
    fact, name, kind = wanted(named, thing)
    objects, hand, key = {name: kind}, "_".join(held.split()[:2]) if held else "", ""
    facts = ["(way_open a1)"]
    if named or doors:
        door, key, facts = lock_of(things, doors, named["colour"] if named else doors[0][1])
        objects |= {door: "door", key: "thing"}
    room = named and named["room"]
    if room and not has_key(snapshot, key[4:]) and f"door {room} open" not in snapshot["known_objects"]:
        objects[f"door_{room}"] = "door"
        facts.append(f"(unlocked door_{room})")
    else:
        facts.append("(informed a1)")
    if hand:
        hand = key if hand.startswith("key") and key in (hand, "key_any") else hand
        objects.setdefault(hand, "thing")
    facts.append(f"(holding a1 {hand})" if hand else "(hand_empty a1)")
    return f"""(define (problem mission)
  (:domain unlock)
  (:objects a1 - agent {" ".join(f"{name} - {kind}" for name, kind in objects.items())})
  (:init {" ".join(facts)})
  (:goal (and ({fact} {name}))))
"""
