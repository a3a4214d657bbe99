"""The table of tools of ``multinet-run-eval`` for tasks and results. The module of a tool is imported only when it is
used.

A tool returns the exit code: 0 done, 2 a mistake of the user or a file that cannot be used, 130 interrupted.
``certify`` also returns 1 if a proof does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from cyclopts import App

from gridworld.evaluation.terminal import program


@dataclass(frozen=True, slots=True)
class Tool:
    """A subcommand of the command line.

    Attributes:
        function: the function, as ``module:function`` in this package.
        help: help text; its first paragraph is also shown in the list of commands.
        examples: arguments of example commands, without the name of the tool.
        codes: help text on exit codes other than 0 and 2.
    """

    function: str
    help: str
    examples: tuple[str, ...]
    codes: str = ""


TOOLS: Final = {
    "validate": Tool(
        "validating:validate_files",
        "Check task files.\n\n"
        "Prints FILE: ok, or FILE: FIELD: REASON for each problem, and FILE: warning: FIELD: REASON for what is not"
        " used, such as an unknown field. What names and places mean is checked once every field of the file has"
        " its form.",
        ("my_task.json", "my_tasks/ gridworld/tasks validation_10 --strict"),
    ),
    "generate": Tool(
        "generating:generate_tasks",
        "Make tasks that are proven.\n\n"
        "Each carries a certificate: solvable, its optimal length, every link of its chain necessary. The same"
        " arguments make the same tasks on every machine.",
        ("--tier 3 --count 20 --seed 7 --output my_tasks", "--tier 1-5 --count 10 --output hexagons --tiling hex"),
        ", 130 interrupted",
    ),
    "certify": Tool(
        "certifying:certify_files",
        "Compute the certificates of tasks anew and compare.\n\n"
        "Of a task without one, or on another tiling, tell whether it can be solved, in how many steps, and whether"
        " each link of its dependency chain is necessary.",
        ("my_tasks/", "gridworld/tasks/tier3", "my_task.json --write"),
        ", 1 a certificate does not agree or a task is not sound",
    ),
    "draw": Tool(
        "drawing:draw_tasks",
        "Draw tasks as PNG, or an episode as GIF.\n\n"
        "A task is drawn at its start; an episode is one of a results file (--episode), or a shortest solution"
        " (--optimal).",
        (
            "hidden_switch_001 --revealed",
            "my_tasks/ --output pictures/",
            "my_task.json --optimal --gif solution.gif",
            "--episode results/greedy_tiers.json --task tier2_single_key_001 --gif episode.gif",
        ),
    ),
    "leaderboard": Tool(
        "ranking:make_leaderboard",
        "Make an HTML page from results files; it needs nothing else and loads nothing.",
        ("results/*.json", "results/ --output board.html"),
    ),
    "list": Tool(
        "listing:list_tasks",
        "List tasks.\n\n"
        "Prints id, tier, size, goal, what is seen, mechanisms, steps allowed; where there is room, the file.",
        ("", "gridworld/tasks/tier3", "my_tasks/"),
    ),
}
"""Maps the name of each subcommand to its tool."""


def add_tools(app: App) -> None:
    """Add every tool to the command as a subcommand."""
    for name, tool in TOOLS.items():
        commands = [f"  {program()} {name} {arguments}".rstrip() for arguments in tool.examples]
        examples = "\n".join(commands)
        epilogue = (
            f"exit codes: 0 done, 2 a mistake in what was asked or a file that cannot be used{tool.codes}"
            f"\n\nexamples:\n{examples}\n"
        )
        app.command(f"gridworld.evaluation.tooling.{tool.function}", name=name, help=tool.help, help_epilogue=epilogue)
