"""A server that answers from the reference model gives what the embedded one gives, and its log is the run's books.

``scripts/soak served [--apis chat,openai,anthropic,google,ollama] [--categories K] [--faults 0.1] [--seed S]
[--record]``: the curriculum (its first K categories, default all) once with the embedded model, once over chat
completions, and once with the default models of each provider in its own protocol, from a server on loopback that
refuses a share of the requests with 429 or 500. Every call has to be the same, and every record of the ledger has to be
what the server's own log says.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.soak.common import SCRATCH, conclude, cut_curriculum, existing_run, gate_parser, read, run
from tests.support.spca.served import (
    CHAT,
    DEFAULTS,
    TOKENS,
    calls,
    cost_of,
    imbalance,
    model_flags,
    results,
    to_provider,
)

HOME = SCRATCH / "served"
APIS = ("chat", *DEFAULTS)


def play(name: str, curriculum: Path, *flags: str, **environ: str) -> Path:
    """The folder of a run of its own."""
    where = ("--runs", str(HOME / name / "runs"), "--workspace", str(HOME / name / "workspace"))
    run("--quiet", "--curriculum", str(curriculum), *where, *flags, **environ)
    return existing_run(HOME / name / "runs")


def differences(name: str, embedded: Path, served: Path, asked: list[Line]) -> list[str]:
    """Where a served run differs from the embedded one or its ledger from the server's log."""
    found = imbalance(served, asked)
    planner, small, coder = read(served / "run.json")["models"].values()
    if name in DEFAULTS and (planner, small, coder) != DEFAULTS[name]:
        found.append(f"the models are {planner}, {small}, {coder}")
    if results(served) != results(embedded):
        found.append("the results differ")
    for number, pair in enumerate(zip(calls(embedded), calls(served), strict=False), 1):
        if pair[0] != pair[1]:
            found.append(f"call {number} differs: {pair[0][:3]} embedded, {pair[1][:3]} served")
    if len(calls(embedded)) != len(calls(served)):
        found.append(f"{len(calls(embedded))} calls embedded, {len(calls(served))} served")
    return found


def line(api: str, served: Path, asked: list[Line], found: list[str]) -> str:
    """A row of the table of figures."""
    refused = sum(entry.status != 200 for entry in asked)
    read, made, _, stored, reasoned = (sum(getattr(entry, name) or 0 for entry in asked) for name in TOKENS)
    cost = sum(map(cost_of, asked))
    last = results(served)[-1]
    solved = f"{last['solved']} of {last['levels']}"
    tokens = f"{read + made:,} | {stored:,} | {reasoned:,}"
    return f"| {api} | {solved} | {len(asked)} | {refused} | {tokens} | {cost:.4f} | {len(found)} |"


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
    heads = ("API", "solved", "requests", "refused", "tokens", "cache writes", "reasoning", "USD", "differences")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    faults: list[str] = []
    for api in options.apis:
        with ReferenceServer(Settings(faults=options.faults, seed=options.seed)) as server:
            chat = (*model_flags(CHAT), "--base-url", server.base_url)
            served = (
                play(api, curriculum, *chat) if api == "chat" else play(api, curriculum, **to_provider(api, server))
            )
            found = differences(api, embedded, served, server.asked)
            lines.append(line(api, served, server.asked, found))
        faults += found
    title = "Served in the protocol of each provider"
    apis = "" if options.apis == list(APIS) else f"--apis {','.join(options.apis)} "
    flags = f"{apis}--categories {options.categories} --faults {options.faults:g} --seed {options.seed}"
    return conclude("served", title, flags, "\n".join(lines), faults, is_recorded=options.record)


if __name__ == "__main__":
    sys.exit(main())
