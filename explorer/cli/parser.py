"""Parse the command line into one :class:`Settings`."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spca.common.command import Parser, program, whole

MOST_HOPS: Final = 6
RESULTS: Final = Path("results/explorer/human.jsonl")
SCENES: Final = Path("scenes")

KNOBS: Final = {
    "distractors": ("useless things in each scene, 0 to 6", 1),
    "spare": ("blocks beyond those that a bridge or pillar needs; with 0, none may be wasted", 2),
    "occlusion": ("1: nothing of the first hops is in view at the spawn; 0: it may be", 1),
    "distance": ("0 to 2: how often things lie in a side room", 1),
    "dark": ("1: most rooms have no lamps", 0),
}
"""Numeric knob of :class:`explorer.generating.knobs.Knobs` -> its help and default."""

_SCENE: Final = "folder of a scene, or a line of a file or released set, as FILE:1 or test:1"
_HELP: Final = {
    "play": "play a scene in the browser, or in the terminal",
    "run": "let an agent play scenes, and measure how well it does",
    "report": "write results as one page: rates, episodes, and a player for each",
    "show": "print a scene: its task, its hops and why they are in this order, its certificate, its map",
    "generate": "make scenes, each with its proof",
    "certify": "prove scenes again, our own or in the published format",
    "release": "make the released sets of scenes again",
}
_DESCRIPTION: Final = """\
Open-world exploration with hidden prerequisites: agents are told only the goal, and must discover what it needs first.
Every scene comes with a proof: docs/explorer.md says what is proven, and what is not claimed."""
_EPILOG: Final = """\
exit codes: 0 done, 1 the answer is no (a proof does not hold), 2 a mistake in the command or its files, 130 interrupted

examples:
  %(prog)s play                                a new scene of two hops, in the browser
  %(prog)s report                              your episodes, as one page
  %(prog)s generate --count 100 --seed 7 --output my_scenes --workers 2
  %(prog)s certify my_scenes
  %(prog)s run my_scenes --agent random --workers 2"""


@dataclass(frozen=True, slots=True)
class Settings:
    """The parsed command line.

    Attributes:
        fresh: play any new scene that was not played yet.
    """

    command: str
    scene: Path | None = None
    paths: tuple[Path, ...] = ()
    agent: str = "random"
    max_steps: int | None = None
    seed: int = 1
    fresh: bool = False
    hops: tuple[int, ...] = ()
    count: int = 1
    workers: int = 1
    output: Path | None = None
    picture: Path | None = None
    scenes: Path | None = None
    terminal: bool = False
    browser: bool = True
    port: int = 0
    resume: bool = False
    overwrite: bool = False
    json: bool = False
    quiet: bool = False
    check: bool = False
    knobs: Mapping[str, Any] = field(default_factory=dict)


def build_parser() -> argparse.ArgumentParser:
    """Return the parser; options that are not given are absent from its namespace."""
    layout = argparse.RawDescriptionHelpFormatter
    called = program("python -m explorer")
    parser = Parser(prog=called, description=_DESCRIPTION, epilog=_EPILOG, formatter_class=layout, allow_abbrev=False)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, text in _HELP.items():
        command = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", formatter_class=layout,
            argument_default=argparse.SUPPRESS, allow_abbrev=False,
        )  # fmt: skip
        _OPTIONS[name](command)
    return parser


def parse(argv: Sequence[str] | None = None) -> Settings:
    """Return the settings of a command line; on a mistake, print one line and exit with 2."""
    given = vars(build_parser().parse_args(argv))
    if "paths" in given:
        given["paths"] = tuple(given["paths"])
    given["fresh"] = given["command"] == "play" and "seed" not in given
    knobs = {name: given.pop(name) for name in ("shape", *KNOBS) if name in given}
    return Settings(**given, knobs=knobs)


def look_at(results: Path) -> str:
    """Return the line that names the command which makes a page of results."""
    return f"look at it: {program('python -m explorer')} report {shlex.quote(str(results))}"


def _add_play(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "scene",
        nargs="?",
        type=Path,
        default=None,
        metavar="SCENE",
        help=f"{_SCENE} (default: a new one is made)",
    )
    add("--seed", type=whole(0), metavar="S", help="seed of the new scene (default: one that was not played yet)")
    add("--hops", type=_hop, metavar="H", help=f"hops of the new scene, 1 to {MOST_HOPS} (default 2)")
    add("--terminal", action="store_true", help="play in this terminal instead of the browser; works over ssh")
    add("--output", type=Path, metavar="FILE", help=f"results file to append the episode to (default {RESULTS})")
    add("--port", type=whole(0, 65535), metavar="N", help="port of the local server (default: any free one)")
    add("--no-browser", dest="browser", action="store_false", help="only print the address")


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="SCENES", help="scenes, folders of scenes, or files with one per line")
    add("--agent", metavar="NAME", help="random (default), or solver: the proof's own steps, an upper bound")
    add("--seed", type=whole(0), metavar="S", help="seed of the agent (default 1)")
    add(
        "--max-steps",
        type=whole(1, 100_000),
        metavar="N",
        help="steps, as told (default: each certificate's, untold)",
    )
    add("--output", type=Path, metavar="FILE", help=f"results in JSON Lines (default {RESULTS.parent}/NAME.jsonl)")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1); the results are the same")
    again = parser.add_mutually_exclusive_group().add_argument
    again("--resume", action="store_true", help="continue an interrupted command")
    again("--overwrite", action="store_true", help="start over, even if there are results")
    add("--quiet", action="store_true", help="show no progress")


def _add_report(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", type=Path, default=(), metavar="RESULTS", help=f"results in JSON Lines (default {RESULTS})")
    add("--scenes", type=Path, metavar="DIR", help="folder of scenes that the results do not locate")
    add("--output", type=Path, metavar="FILE", help="the page (default: beside the first results, .html)")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", type=Path, metavar="SCENE", help=_SCENE)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write the agent's first view, as PNG")


def _add_generate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--count", type=whole(1, 1_000_000), metavar="N", help="number of scenes (default 1)")
    add("--seed", type=whole(0), metavar="S", help="different seeds make different scenes (default 1)")
    add("--hops", type=_hops, metavar="HOPS", help=f"hops of the scenes: 3, 1-4 or 2,4 (default 1-{MOST_HOPS})")
    add("--output", type=Path, metavar="DIR", help=f"folder of the scenes (default {SCENES})")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1); the scenes are the same")
    _add_knobs(parser)
    again = parser.add_mutually_exclusive_group().add_argument
    again("--resume", action="store_true", help="continue an interrupted command")
    again("--overwrite", action="store_true", help="start over, even if there are scenes")
    add("--quiet", action="store_true", help="show no progress")


def _add_knobs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("knobs").add_argument
    add("--shape", metavar="SHAPE", help="shape of the graph: chain, join, fork or diamond (default: a mix)")
    for name, (what, default) in KNOBS.items():
        add(f"--{name}", type=whole(0), metavar="N", help=f"{what} (default {default})")


def _add_certify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="DIR", help="a scene, a folder of scenes, or a file with one per line")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1)")
    add("--json", action="store_true", help="print one line of JSON per scene")


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder of the sets (default: where they ship)")
    parser.add_argument("--check", action="store_true", help="write nothing; check whether the files are the same")
    parser.add_argument("--quiet", action="store_true", help="show no progress")


_OPTIONS: Final[dict[str, Callable[[argparse.ArgumentParser], None]]] = {
    "play": _add_play,
    "run": _add_run,
    "report": _add_report,
    "show": _add_show,
    "generate": _add_generate,
    "certify": _add_certify,
    "release": _add_release,
}


def _hop(text: str) -> tuple[int, ...]:
    return (whole(1, MOST_HOPS)(text),)


def _hops(text: str) -> tuple[int, ...]:
    found = set[int]()
    for part in text.split(","):
        first, dash, last = part.partition("-")
        try:
            found.update(range(whole(1, MOST_HOPS)(first), whole(1, MOST_HOPS)(last if dash else first) + 1))
        except argparse.ArgumentTypeError:
            found.clear()
            break
    if not found:
        raise argparse.ArgumentTypeError(f"invalid hops {text!a}: expected 3, 1-4 or 2,4, within 1 to {MOST_HOPS}")
    return tuple(sorted(found))
