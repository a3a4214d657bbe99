"""Missions that ask to remember the thing seen at the start and to go to its like at the end of the hallway."""


def make_problem(snapshot):
    """Return the problem of looking at the thing, then going to its match; which thing it is has to be seen."""
    if snapshot["mission"] != "go to the matching object at the end of the hallway":
        raise ValueError("not about a matching object: " + snapshot["mission"])
    return """(define (problem mission)
  (:domain match_cue)
  (:objects a1 - agent object_any - cue)
  (:init)
  (:goal (and (matched object_any))))
"""
