"""What e2e tests and long gates hold against a server's own log: the ledger of a run, its calls, its results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from spca.llm.calls.ledger import BOOK
from spca.llm.catalogue.model_ref import ModelRef
from tests.fakes.reference_server import Line, ReferenceServer

CHAT = ("openai/gpt-5.2", "openai/gpt-5.2-2025-12-11", "openai/gpt-5.2")
RESPONSES = ("openai/gpt-6.1-sol", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol")
ANTHROPIC = ("anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5-5", "anthropic/claude-opus-5-5")
GOOGLE = ("google/gemini-3.8-flash", "google/gemini-3.5-flash-lite", "google/gemini-3.8-flash")
OLLAMA = ("ollama/qwen3-coder:30b",) * 3
DEFAULTS = {"openai": RESPONSES, "anthropic": ANTHROPIC, "google": GOOGLE, "ollama": OLLAMA}
"""Models of a run where nothing but a key or an address is set: written down again, so that they are checked."""

PRICES = {
    **dict.fromkeys(("gpt-5.2", "gpt-5.2-2025-12-11"), (1.75, 0.175, 1.75, 14)),
    "gpt-6.1-sol": (2, 0.1, 2.5, 10),
    "gpt-6.1-terra": (1, 0.05, 1.25, 5),
    "claude-opus-5-5": (4, 0.2, 5, 20),
    "claude-sonnet-5-5": (2, 0.1, 2.5, 10),
    "gemini-3.8-flash": (0.75, 0.075, 0, 3.75),
    "gemini-3.5-flash-lite": (0.3, 0.03, 0, 2.5),
    "qwen3-coder:30b": (0, 0, 0, 0),
}
"""USD per million tokens of input, input from the cache, input into it, and output: written down again, so that the
table is checked."""

_FROM_2027 = PRICES | {"gemini-3.8-flash": (1.5, 0.15, 0, 7.5)}
_NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC).timestamp()

TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "cache_write_tokens", "reasoning_tokens")

NOT_RESULTS = ("run_id", "elapsed_min", "durations", "usage")
"""What the summaries of two runs with the same results may differ in."""


def model_flags(models: Sequence[str]) -> tuple[str, ...]:
    """Flags for the large planner, the small planner and the coder."""
    flags = ("--planner-model", "--planner-small-model", "--coder-model")
    return tuple(text for flag, model in zip(flags, models, strict=True) for text in (flag, model))


def to_provider(prefix: str, server: ReferenceServer) -> dict[str, str]:
    """The environment in which the defaults of a provider are asked at a server, and nothing else is set."""
    return {
        "openai": {"OPENAI_BASE_URL": server.base_url},
        "anthropic": {"ANTHROPIC_API_KEY": "not-a-real-key", "ANTHROPIC_BASE_URL": server.url},
        "google": {"GEMINI_API_KEY": "not-a-real-key", "GOOGLE_GEMINI_BASE_URL": server.url},
        "ollama": {"OLLAMA_HOST": server.url},
    }[prefix]


def book(run: Path) -> list[dict[str, Any]]:
    """The records of a run's requests."""
    path = run / BOOK
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.is_file() else []


def read_log(path: Path) -> list[Line]:
    """The requests for an answer in a server's log file."""
    lines = [Line(**json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if line.number]


def cost_of(line: Line) -> float:
    """USD of a request as the server has it."""
    if line.status != 200:
        return 0.0
    fresh, cached, stored, output = (PRICES if line.time < _NEW_YEAR else _FROM_2027)[str(line.model)]
    read, again, written = line.input_tokens or 0, line.cached_tokens or 0, line.cache_write_tokens or 0
    sent = (read - again - written) * fresh + again * cached + written * stored
    return (sent + (line.output_tokens or 0) * output) / 1e6


def imbalance(run: Path, log: Sequence[Line]) -> list[str]:
    """Where the ledger of a run differ from the server's log; requests of unknown fate may have any end there."""
    found, records = [], book(run)
    if len(records) != len(log):
        found.append(f"{len(records)} records, {len(log)} requests in the server's log")
    for record, line in zip(records, log, strict=False):
        mine: list[Any] = [ModelRef.parse(record["model"]).name]
        theirs: list[Any] = [line.model]
        if record["outcome"] != "unknown":
            mine += [record["outcome"], record["status"] or 200, *(record[name] for name in TOKENS)]
            mine.append(round(record["cost"], 9))
            outcome = "answered" if line.status == 200 else "rejected"
            theirs += [outcome, line.status, *(getattr(line, name) for name in TOKENS), round(cost_of(line), 9)]
        if mine != theirs:
            found.append(f"request {line.number}: {mine} in the ledger, {theirs} in the server's log")
    return found + unsummed(run, records)


def unsummed(run: Path, records: Sequence[dict[str, Any]]) -> list[str]:
    """Where the sums in a run's files are not those of its records."""
    found = []
    levels = [json.loads(path.read_text(encoding="utf-8")) for path in run.glob("summaries/summary_*.json")]
    whole = json.loads((run / "run.json").read_text(encoding="utf-8"))["usage"]
    parts = [("run.json", whole, list(records))]
    for name, usage in whole["categories"].items():
        parts.append((name, usage, [r for r in records if r["category"] == name]))
    for level in levels:
        parts.append(
            (level["level"]["level_name"], level["usage"], [r for r in records if r["index"] == level["index"]])
        )
    for name, usage, chosen in parts:
        expected = {"requests": len(chosen), "cost_usd": round(sum(r["cost"] or 0 for r in chosen), 9)}
        for field in TOKENS:
            expected[field] = sum(record[field] or 0 for record in chosen)
        for outcome in ("answered", "rejected", "lost", "unknown"):
            expected[outcome] = sum(record["outcome"] == outcome for record in chosen)
        summed = {field: round(usage[field], 9) for field in expected}
        if summed != expected:
            found.append(f"{name}: {summed} instead of {expected}")
    return found


def calls(run: Path) -> list[tuple[str, str, str, list[str]]]:
    """Every call of a run in order: phase, mode, what was asked (its key without the model), what came back."""
    files = [json.loads(path.read_text(encoding="utf-8")) for path in sorted((run / "llm").glob("[0-9]*.json"))]
    return [(f["phase"], f["mode"], f["prompt_key"], f["answer"]["text"] if f["answer"] else []) for f in files]


def results(run: Path) -> list[dict[str, Any]]:
    """The summaries of a run's levels in order, and then that of the run, without times and money."""
    levels = [json.loads(path.read_text(encoding="utf-8")) for path in run.glob("summaries/summary_*.json")]
    ordered = sorted(levels, key=lambda level: int(level["index"]))
    ordered.append(json.loads((run / "summary.json").read_text(encoding="utf-8")))
    return [{key: value for key, value in entry.items() if key not in NOT_RESULTS} for entry in ordered]
