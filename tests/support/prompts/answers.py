"""Answers of a planner made of a plan, for cases whose right plan is known."""

from __future__ import annotations

import json
import re

from spca.plan.pddl import parse_plan


def plan(calls: str) -> str:
    """PDDL whose only plan is ``"pick_up_object(a1, key_red), unlock_door(a1, door_red, key_red)"``.

    It is always some step's turn; the steps are the facts of the problem.
    """
    steps = parse_plan(f"[{calls}]")
    counts = {step.action: len(step.args) for step in steps}
    named = dict.fromkeys(arg for step in steps for arg in step.args if arg != "a1")
    things = f" {' '.join(named)} - thing" if named else ""
    turns = " ".join(f"t{n}" for n in range(len(steps) + 1))
    facts = " ".join(f"(next t{n} t{n + 1}) (of_{s.action} t{n} {' '.join(s.args)})" for n, s in enumerate(steps))
    predicates = " ".join(f"(of_{name} ?t - turn {_typed(count)})" for name, count in counts.items())
    domain = [
        "(define (domain chain) (:requirements :adl :typing) (:types agent thing turn - object)",
        f"  (:predicates (next ?t - turn ?u - turn) (now ?t - turn) {predicates})",
        *(_action(name, count) for name, count in counts.items()),
    ]
    problem = [
        f"(define (problem p) (:domain chain) (:objects a1 - agent{things} {turns} - turn)",
        f"  (:init {facts} (now t0)) (:goal (now t{len(steps)})))",
    ]
    return json.dumps({"domain": "\n".join(domain) + ")", "problem": "\n".join(problem)})


def swapped(answer: str) -> str:
    """The same PDDL with kind and colour of every object the wrong way round: ``yellow_key``."""
    colours = "red|green|blue|purple|yellow|grey|any"
    return re.sub(rf"\b(key|ball|box|door|object|goal)_({colours})", r"\2_\1", answer)


def _typed(count: int) -> str:
    return " ".join(["?a - agent", *(f"?x{n} - thing" for n in range(1, count))])


def _action(name: str, count: int) -> str:
    turn = f"(of_{name} ?t ?a{''.join(f' ?x{n}' for n in range(1, count))})"
    return (
        f"  (:action {name} :parameters ({_typed(count)})\n"
        f"    :precondition (exists (?t - turn) (and (now ?t) {turn}))\n"
        f"    :effect (forall (?t - turn ?u - turn) (when (and (now ?t) (next ?t ?u) {turn})"
        " (and (now ?u) (not (now ?t))))))"
    )
