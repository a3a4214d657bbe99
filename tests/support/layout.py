"""How the parts of the product lie upon each other, and which of their names occur twice: held by test_architecture."""

from __future__ import annotations

ORDER = (
    ("body", "common", "contracts", "errors", "protocols", "version"),
    ("sense", "plan"),
    ("bodies",),
    ("llm", "prompts"),
    ("reference", "code", "plugins"),
    ("act", "sandbox"),
    ("writers",),
    ("testing",),
    ("runs",),
    ("report",),
    ("evaluation",),
    ("policy",),
    ("commands",),
    ("__main__",),
)
"""Parts of ``spca``: each imports itself and what stands in a line above its own; the first line is for everyone."""

AGAINST_THE_ORDER = {
    ("spca.llm.providers.offline.reference", "reference"): "the embedded model is a provider like the others",
}
"""A module and the part that it may import all the same -> why."""

TWIN_MODULES = {
    "spca": {
        "body": "what a body is; that of the grid",
        "answers": "what a model may answer; what a query answers",
        "client": "the solver and the sandbox are processes made of the same parts",
        "errors": "the root, and what everyone raises; what the loop raises",
        "formulation": "a PDDL problem of a BabyAI mission; of a task with mechanisms",
        "library": "of actions that a coder wrote; of problem writers that a planner wrote",
        "models": "the command; what a run knows of its models",
        "names": "as a user writes them; those that generated code may use",
        "options": "of a run; of an evaluation; of a study of ablations",
        "replay": "the command; the provider that answers from a recorded run",
        "run": "the command; the loop over levels",
        "watch": "the command; the page that it serves",
        "wire": "the solver and the sandbox are processes made of the same parts",
        "worker": "the solver and the sandbox are processes made of the same parts",
        "worlds": "the command; what builds the world of a level",
    },
    "gridworld": {},
    "robot_bridge": {
        "replay": "the command; what it does",
        "robot": "the real one and the simulated one, behind one protocol",
        "world": "a robot as a world of the agent; the world that a simulated robot stands in",
    },
}
"""Names of modules that occur twice within a package -> why."""

SHOWN = "what the loop records, and what a report shows of it (spca.report.read.model)"
TWIN_CLASSES = {
    "spca": {
        **dict.fromkeys(("Attempt", "Episode", "Level", "Round", "Usage"), SHOWN),
        "Action": "a PDDL action that is written; an action of an episode that is shown",
        "Answer": "of a model, kept; of a model server, on its way; of an attempt of the doctor",
        "Call": "a request, recorded; a request, shown; a call of the system",
        "Check": "of a recorded episode; of a layer of the sandbox",
        "Frame": "of an episode; of a byte stream",
        "GoneError": "the other end of a pipe has closed it: the solver's, the worker's",
        "History": "of the embedded planner; of a level's time",
        "Job": "one of many pieces of work; an action of the embedded planner's plan",
        "Place": "where a call belongs; where a thing of a mission lies",
        "Report": "of models looked up; of a run; of the doctor",
        "Run": "that goes on; that is shown",
        "State": "of a model at its provider; of a search",
        "Thing": "of a scene; of a terrain",
        "Way": "what is done on the way; how a mission words it",
    },
    "gridworld": {
        "Action": "ours; that of the multigrid library",
        "Link": "of a draft; of a way",
    },
    "robot_bridge": {
        "Action": "under way; as a message says it",
        "Choice": "of the embedded navigator; of when to ask",
        "Room": "as a message says it; of a floor plan",
    },
}
"""Names of public classes that occur twice within a package -> why."""
