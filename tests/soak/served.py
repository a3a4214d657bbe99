"""A server that answers from the reference model gives what the embedded one gives, and its log is the run's books.

``scripts/soak served [--apis chat,openai,anthropic,google,ollama,chat:-1,openai:nothing,google:many] [--categories K]
[--faults 0.1] [--seed S] [--record]``: the curriculum (its first K categories, default all) once with the embedded
model, once over chat completions, and once with the default models of each provider in its own protocol, from a server
on loopback that refuses a share of the requests with 429 or 500. Every call has to be the same, and every record of the
ledger has to be what the server's own log says.

After a colon stands what the server reports in place of each count of tokens, or "nothing": every answer has to be
used, none asked for twice, and the tokens of each have to be estimated.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from dataclasses import replace
from pathlib import Path

from spca.llm.spending import tokens, usd
from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.soak.common import SCRATCH, conclude, cut_curriculum, existing_run, gate_parser, read, run
from tests.support.spca.served import (
    CHAT,
    DEFAULTS,
    book,
    calls,
    imbalance,
    model_flags,
    results,
    to_provider,
    unsummed,
)

HOME = SCRATCH / "served"
MISCOUNTING = ("chat:-1", "openai:nothing", "google:many")
APIS = ("chat", *DEFAULTS, *MISCOUNTING)
HEAD = (
    "| API | counts | solved | requests | refused | asked twice "
    "| tokens | cache writes | reasoning | USD | differences |"
)


def play(name: str, curriculum: Path, *flags: str, **environ: str) -> Path:
    """The folder of a run of its own."""
    where = ("--runs", str(HOME / name / "runs"), "--workspace", str(HOME / name / "workspace"))
    run("--quiet", "--curriculum", str(curriculum), *where, *flags, **environ)
    return existing_run(HOME / name / "runs")


def settings_for(count: str, options: argparse.Namespace) -> Settings:
    """Return how a server behaves that reports ``count``; "": the truth."""
    usual = Settings(faults=options.faults, seed=options.seed)
    if count == "nothing":
        return replace(usual, usage=False)
    return replace(usual, count=int(count) if count.lstrip("-").isdecimal() else count or None)


def asked_twice(served: Path, asked: list[Line]) -> int:
    """Return how many answers were sent beside those that the calls of a run were answered with."""
    answered = sum(line.status == 200 for line in asked)
    return answered - len(calls(served))


def misread(served: Path, asked: list[Line]) -> list[str]:
    """Return where the ledger of a run does not say what is known of answers without counts."""
    records = book(served)
    found = unsummed(served, records)
    if len(records) != len(asked):
        found.append(f"{len(records)} records, {len(asked)} requests in the server's log")
    for record, line in zip(records, asked, strict=False):
        is_answered = line.status == 200
        expected = ("answered", True) if is_answered else ("rejected", False)
        if (record["outcome"], record["estimated"]) != expected:
            found.append(f"request {line.number} is {record['outcome']}, estimated: {record['estimated']}")
        if is_answered and not (record["input_tokens"] and record["output_tokens"]):
            found.append(f"request {line.number} has no estimate")
    return found


def differences(name: str, embedded: Path, served: Path, asked: list[Line]) -> list[str]:
    """Return where a served run differs from the embedded one or its ledger from the server's log."""
    api, colon, _ = name.partition(":")
    found = misread(served, asked) if colon else imbalance(served, asked)
    if twice := asked_twice(served, asked):
        found.append(f"{twice} answers were asked for twice")
    planner, small, coder = read(served / "run.json")["models"].values()
    if api in DEFAULTS and (planner, small, coder) != DEFAULTS[api]:
        found.append(f"the models are {planner}, {small}, {coder}")
    if results(served) != results(embedded):
        found.append("the results differ")
    for number, pair in enumerate(zip(calls(embedded), calls(served), strict=False), 1):
        if pair[0] != pair[1]:
            found.append(f"call {number} differs: {pair[0][:3]} embedded, {pair[1][:3]} served")
    if len(calls(embedded)) != len(calls(served)):
        found.append(f"{len(calls(embedded))} calls embedded, {len(calls(served))} served")
    return found


def line(name: str, served: Path, asked: list[Line], found: list[str]) -> str:
    """Return a row of the table of figures; tokens and USD are those of the ledger."""
    refused = sum(entry.status != 200 for entry in asked)
    usage = read(served / "run.json")["usage"]
    last = results(served)[-1]
    api, _, count = name.partition(":")
    cells = (
        api,
        count or "right",
        f"{last['solved']} of {last['levels']}",
        len(asked),
        refused,
        asked_twice(served, asked),
        tokens(usage),
        f"{usage['cache_write_tokens']:,}",
        f"{usage['reasoning_tokens']:,}",
        usd(usage),
        len(found),
    )
    return f"| {' | '.join(map(str, cells))} |"


def main() -> int:
    """Run the gate; 1 when anything differs."""
    parser = gate_parser("served", __doc__)
    parser.add_argument("--apis", type=lambda text: text.split(","), default=list(APIS))
    parser.add_argument("--categories", type=int, default=12)
    parser.add_argument("--faults", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0, help="draws the faults")
    options = parser.parse_args()
    shutil.rmtree(HOME, ignore_errors=True)
    curriculum = cut_curriculum(HOME / "curriculum.json", options.categories)
    embedded = play("embedded", curriculum)
    lines = [HEAD, "|---" * (HEAD.count("|") - 1) + "|"]
    faults: list[str] = []
    for name in options.apis:
        api, _, count = name.partition(":")
        with ReferenceServer(settings_for(count, options)) as server:
            flags = (*model_flags(CHAT), "--base-url", server.base_url) if api == "chat" else ()
            environ = {} if api == "chat" else to_provider(api, server)
            served = play(name, curriculum, *flags, **environ)
            found = differences(name, embedded, served, server.asked)
            lines.append(line(name, served, server.asked, found))
        faults += found
    title = "Served in the protocol of each provider"
    apis = "" if options.apis == list(APIS) else f"--apis {','.join(options.apis)} "
    given = f"{apis}--categories {options.categories} --faults {options.faults:g} --seed {options.seed}"
    return conclude("served", title, given, "\n".join(lines), faults, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
