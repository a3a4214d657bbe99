"""What a run is told: one frozen value, passed down."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from spca.common.command import program
from spca.llm.providers.base import TIMEOUT_S


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is told; one value passed down, nothing global. Paths are absolute."""

    curriculum: str
    workspace: str
    runs: str
    planner_model: str
    planner_small_model: str
    coder_model: str
    seed: int = 1
    start_category: str | None = None
    only: str | None = None
    levels: str | None = None
    keep_agent: bool = False
    keep_pddl: bool = False
    upstream_rules: bool = False
    unsafe_no_sandbox: bool = False
    engine: str | None = None
    base_url: str | None = None
    google_base_url: str | None = None
    ollama_host: str | None = None
    model_table: str | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_output_tokens: int | None = None
    timeout: float = TIMEOUT_S
    preflight: bool = True
    cache: bool = False
    render: bool = False
    quiet: bool = False
    resume: str | None = None

    @property
    def uses_reference(self) -> bool:
        return all(model.startswith("reference/") for model in self.models)

    @property
    def models(self) -> tuple[str, str, str]:
        """Models of the large and the small planner and of the coder."""
        return self.planner_model, self.planner_small_model, self.coder_model

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def how_to_resume(settings: Settings, run_id: str, root: Path) -> str:
    """The command that goes on with a run."""
    elsewhere = f" --runs {shlex.quote(settings.runs)}" if Path(settings.runs) != root / "runs" else ""
    return f"{program()} --resume {run_id}{elsewhere}"
