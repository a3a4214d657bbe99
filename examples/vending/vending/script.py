"""A scripted model, which answers the prompts of planner and coder as a language model would."""

import json
import re

from spca import Response

DOMAIN = """(define (domain vending) (:requirements :strips :typing) (:types drink)
(:predicates (bought ?d - drink))
(:action buy_drink :parameters (?drink - drink) :effect (bought ?drink)))"""

WRITER = """import re


def make_problem(snapshot):
    match = re.fullmatch("buy ((?:a [a-z]+)(?: and a [a-z]+)*)", snapshot["mission"])
    if match is None:
        raise ValueError("this mission buys no drinks")
    drinks = re.findall("a ([a-z]+)", match[1])
    goals = " ".join(f"(bought {drink})" for drink in drinks)
    objects = " ".join(drinks)
    return f"(define (problem task) (:domain vending) (:objects {objects} - drink) (:init) (:goal (and {goals})))"
"""

METHOD = '''def buy_drink(self, drink):
    """Select the slot of a drink, pay for it and pull the lever."""
    for _ in range(len(self.labels)):
        if self.labels[self.selected] == drink:
            break
        yield self.next_slot()
    while self.credit < self.price:
        if self.price - self.credit >= 10:
            yield self.insert_dime()
        else:
            yield self.insert_penny()
    yield self.pull_lever()
'''


class ScriptedModel:
    """A provider with one answer for the planner and one for the coder."""

    def complete(self, request):
        if request.phase == "coder":
            return Response(METHOD)
        question = request.messages[1].text
        mission = re.search('"mission": "([^"]+)"', question)[1]
        scope = {}
        exec(WRITER, scope)
        problem = scope["make_problem"]({"mission": mission})
        parts = {"domain": DOMAIN, "problem": problem, "writer_name": "buy_drinks", "writer": WRITER}
        return Response(json.dumps(parts))
