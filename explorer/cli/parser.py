"""What can be said on the command line, and the one value that it becomes."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from spca.common.command import Parser, program, whole

MOST_HOPS: Final = 6
RESULTS: Final = Path("results/explorer/human.jsonl")
SCENES: Final = Path("scenes")

KNOBS: Final = {
    "distractors": ("things without a use in each scene", 1),
    "spare": ("blocks more than a bridge or pillar needs; 0 makes a wasted block final", 2),
    "occlusion": ("1: nothing of the first hops is in sight at the spawn; 0: it may be", 1),
    "distance": ("how often things lie in a room aside: 0 to 2", 1),
    "dark": ("1: most rooms have no lamps", 0),
}
"""Numbers of :class:`explorer.generating.knobs.Knobs`: what they say, and their defaults."""

_SCENE: Final = "folder of a scene, or a line of a file or released set, as FILE:1 or test:1"
_HELP: Final = {
    "play": "play a scene in the browser, or in the terminal",
    "run": "let an agent play scenes, and measure how well it does",
    "report": "write results as one page: rates, episodes, and a player of each",
    "show": "print a scene: its task, its hops and why they are in this order, its certificate, its map",
    "generate": "make scenes, each with its proof",
    "certify": "prove scenes again: own ones and those in the published format",
    "release": "make the released sets of scenes again",
}
_DESCRIPTION: Final = """\
Open-world exploration with hidden prerequisites: the agent is told the goal alone, what it needs first has to be found.
No scene without a proof: docs/explorer.md says what is proven and what is not claimed."""
_EPILOG: Final = """\
exit codes: 0 done, 1 the answer is no (a proof does not hold), 2 a mistake in what was asked, 130 interrupted

examples:
  %(prog)s play                                a new scene of two hops, in the browser
  %(prog)s report                              what you have played, as one page
  %(prog)s generate --count 100 --seed 7 --output my_scenes --workers 2
  %(prog)s certify my_scenes
  %(prog)s run my_scenes --agent random --workers 2"""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a command is told.

    Attributes:
        fresh: any scene will do that has not been played yet.
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
    """The parser; options that were not given are absent from its namespace."""
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
    """Settings from a command line; complains in one line and exits with 2."""
    given = vars(build_parser().parse_args(argv))
    if "paths" in given:
        given["paths"] = tuple(given["paths"])
    given["fresh"] = given["command"] == "play" and "seed" not in given
    knobs = {name: given.pop(name) for name in ("shape", *KNOBS) if name in given}
    return Settings(**given, knobs=knobs)


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
    add("--seed", type=whole(0), metavar="S", help="of the new scene (default: one that is not in the results yet)")
    add("--hops", type=_hop, metavar="H", help=f"of the new scene, 1 to {MOST_HOPS} (default 2)")
    add("--terminal", action="store_true", help="play here instead of in the browser, by keys; works over ssh")
    add("--output", type=Path, metavar="FILE", help=f"results that the episode is added to (default {RESULTS})")
    add("--port", type=whole(0, 65535), metavar="N", help="of the page's server on this machine (default: a free one)")
    add("--no-browser", dest="browser", action="store_false", help="print the address only")


def _add_run(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="SCENES", help="scenes, folders of scenes, or files with one a line")
    add("--agent", metavar="NAME", help="random (default), or solver: the proof's own steps, an upper bound")
    add("--seed", type=whole(0), metavar="S", help="of the agent (default 1)")
    add("--max-steps", type=whole(1, 100_000), metavar="N", help="of an episode (default: as each certificate says)")
    add("--output", type=Path, metavar="FILE", help=f"results in JSON Lines (default {RESULTS.parent}/NAME.jsonl)")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1); the results are the same")
    again = parser.add_mutually_exclusive_group().add_argument
    again("--resume", action="store_true", help="go on where an earlier command was interrupted")
    again("--overwrite", action="store_true", help="begin again, whatever there is")
    add("--quiet", action="store_true", help="show no progress")


def _add_report(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="*", type=Path, default=(), metavar="RESULTS", help=f"results in JSON Lines (default {RESULTS})")
    add("--scenes", type=Path, metavar="DIR", help="folder of the scenes, where the results do not say it")
    add("--output", type=Path, metavar="FILE", help="the page (default: beside the first results, .html)")


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("scene", type=Path, metavar="SCENE", help=_SCENE)
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write what the agent sees first, as PNG")


def _add_generate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--count", type=whole(1, 1_000_000), metavar="N", help="scenes (default 1)")
    add("--seed", type=whole(0), metavar="S", help="another seed makes other scenes (default 1)")
    add("--hops", type=_hops, metavar="HOPS", help=f"3, 1-4 or 2,4 (default 1-{MOST_HOPS})")
    add("--output", type=Path, metavar="DIR", help=f"folder of the scenes (default {SCENES})")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1); the scenes are the same")
    _add_knobs(parser)
    again = parser.add_mutually_exclusive_group().add_argument
    again("--resume", action="store_true", help="go on where an earlier command was interrupted")
    again("--overwrite", action="store_true", help="begin again, whatever there is")
    add("--quiet", action="store_true", help="show no progress")


def _add_knobs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument_group("knobs").add_argument
    add("--shape", metavar="SHAPE", help="of the graph of hops: chain, join, fork or diamond (default: a mix)")
    for name, (what, default) in KNOBS.items():
        add(f"--{name}", type=whole(0), metavar="N", help=f"{what} (default {default})")


def _add_certify(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("paths", nargs="+", type=Path, metavar="DIR", help="a scene, a folder of scenes, or a file with one a line")
    add("--workers", type=whole(1, 1024), metavar="N", help="processes (default 1)")
    add("--json", action="store_true", help="a line of JSON a scene")


def _add_release(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--output", type=Path, metavar="DIR", help="folder of the sets (default: where they ship)")
    parser.add_argument("--check", action="store_true", help="write nothing, say whether they are the same")
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
        raise argparse.ArgumentTypeError(f"{text!a} are no hops: 3, 1-4 or 2,4 within 1 to {MOST_HOPS}")
    return tuple(sorted(found))
