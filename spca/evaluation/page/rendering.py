"""An evaluation as one HTML file that needs nothing else, in light and dark.

The page's policy lets in nothing but its own script and style and lets nothing out; every text is escaped, and what
nobody can see is spelled out.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any, Final

from spca.common.statistics import Estimate, Rate
from spca.common.text import visible
from spca.common.web.policy import base_style, content_policy
from spca.evaluation.alike import alike, replay
from spca.evaluation.eval_folder import EvaluationFolder
from spca.evaluation.figures import describe_no_width, describe_ratio, format_estimate, format_rate
from spca.evaluation.proof.certificates import LEGEND
from spca.evaluation.summary import Results
from spca.report.read.origin import describe_continuations, describe_origin

_SHOWN_PRIMITIVES: Final = 200
"""Primitives of a witness that the page shows; ``proofs.jsonl`` has them all."""

_UNFOLDED: Final = 10
"""Kinds of failures that are seen at once."""


def page(results: Results, folder: EvaluationFolder) -> str:
    """Return the page of a finished evaluation."""
    from jinja2 import Environment, StrictUndefined

    record = folder.record
    style, script = "\n" + base_style() + "\n" + _asset("page.css"), "\n" + _asset("page.js")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, finalize=_spelled
    )
    told = {
        "rate": format_rate,
        "estimate": format_estimate,
        "bar": _bar,
        "no_width": describe_no_width,
        "ratio": describe_ratio,
    }
    environment.filters |= told
    return environment.from_string(_asset("page.html.jinja")).render(
        style=style,
        script=script,
        policy=content_policy(script, style),
        id=folder.id,
        settings=folder.settings,
        facts=_facts(results, record),
        results=results,
        groups=alike(results.failed),
        unfolded=_UNFOLDED,
        unplayable=record.get("unplayable", {}),
        replay=lambda failure: replay(failure, folder.path),
        shown=_SHOWN_PRIMITIVES,
        legend=LEGEND,
    )


def _spelled(value: object) -> object:
    return visible(value) if type(value) is str else value  # a subclass of str is markup already


def _facts(results: Results, record: Mapping[str, Any]) -> dict[str, str]:
    settings = record["settings"]
    chosen = {name: settings[name] for name in ("categories", "ids", "rename_words") if settings[name] is not None}
    flags = [f"--{name.replace('_', '-')} {value}" for name, value in chosen.items()]
    flags += [f"--{name.replace('_', '-')}" for name in ("outside", "upstream_rules") if settings[name]]
    made = [f"{name or 'nobody'}: {count:,}" for name, count in results.planners.most_common()]
    versions = [f"{name} {record['versions'].get(name)}" for name in ("spca", "minigrid", "python")]
    facts = {
        "agent": settings["agent"],
        "seeds": f"{settings['seeds']} (ranges exclude their end)",
        "chosen": " ".join(flags) or "everything in the curriculum",
        "first plans": ", ".join(made),
        "attempts": str(settings["attempts"]),
        "made by": ", ".join([*versions, f"sandbox {record['sandbox']}"]),
        "source": describe_origin(record),
    }
    later = describe_continuations(record)
    return facts | ({"source later": "; ".join(later)} if later else {})


def _bar(figure: Rate | Estimate | None) -> dict[str, float]:
    """Return where a share and its interval lie, in percent."""
    if figure is None:
        return {"value": 0.0, "low": 0.0, "width": 0.0}
    low, high = figure.interval if isinstance(figure, Rate) else (figure.low, figure.high)
    return {"value": round(100 * figure.value, 2), "low": round(100 * low, 2), "width": round(100 * (high - low), 2)}


def _asset(name: str) -> str:
    return resources.files(__package__ or "").joinpath(name).read_text(encoding="utf-8")
