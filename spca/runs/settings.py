"""What a run is told: one frozen value, passed down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from spca.llm.providers.base import TIMEOUT_S
from spca.prompts import Wording
from spca.sense.renaming import Renaming

ADDRESSES: Final = {
    "base_url": "OPENAI_BASE_URL",
    "anthropic_base_url": "ANTHROPIC_BASE_URL",
    "google_base_url": "GOOGLE_GEMINI_BASE_URL",
    "ollama_host": "OLLAMA_HOST",
}
"""Setting of a server's address -> environment variable that gives it."""
ABLATIONS: Final = {
    "--no-compile": ("compile", False),
    "--no-reuse": ("reuse", False),
    "--no-regression-check": ("regression_check", False),
    "--no-curriculum": ("carry_over", False),
    "--bare-prompt": ("bare_prompt", True),
}
"""Flag that takes away a part of learning -> its setting and the value that says so."""
MAY_CHANGE_ON_RESUME: Final = frozenset(
    {"runs", "resume", "render", "quiet", "max_cost", "max_calls", "max_tokens", "max_output_tokens"}
    | {"timeout", "cache", "model_table", "preflight", "servers"}
    | ADDRESSES.keys()
)
MODELS: Final = frozenset({"planner_model", "planner_small_model", "coder_model"})
"""What a run may go on with others of, where a flag names them; an evaluation may not."""
OF_THIS_SESSION: Final = {"render": False, "quiet": False, "cache": False, "preflight": True}
"""How a run is watched is not a property of the run: it is not taken over when the run goes on."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is told; one value passed down, nothing global. Paths are absolute.

    ``servers`` lists the servers of the user's own that its models are asked at, as ``SPCA_SERVERS`` does.

    Ablations: without ``compile`` no problem writers are asked for, kept or tried; without ``reuse`` no PDDL that
    solved a level is shown; without ``regression_check`` a rewritten method is kept unchecked; without ``carry_over``
    each category begins with the initial agent and no writers; with ``bare_prompt`` models are told formats and
    primitives only. ``rename_words`` is the seed of the words that stand for colours and kinds.
    """

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
    compile: bool = True
    reuse: bool = True
    regression_check: bool = True
    carry_over: bool = True
    bare_prompt: bool = False
    rename_words: int | None = None
    unsafe_no_sandbox: bool = False
    engine: str | None = None
    base_url: str | None = None
    anthropic_base_url: str | None = None
    google_base_url: str | None = None
    ollama_host: str | None = None
    servers: str | None = None
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
    def ablations(self) -> tuple[str, ...]:
        """What differs from learning in full, as the flags that say so."""
        told = {flag: getattr(self, name) is value for flag, (name, value) in ABLATIONS.items()}
        words = () if self.rename_words is None else (f"--rename-words {self.rename_words}",)
        return (*(flag for flag, is_given in told.items() if is_given), *words)

    @property
    def renaming(self) -> Renaming:
        """The words that models and generated code are shown."""
        return Renaming(self.rename_words)

    @property
    def of_worlds(self) -> dict[str, Any]:
        """What :class:`minigridenv.MiniGridEnv` is told, by name."""
        return {"upstream_rules": self.upstream_rules, "renaming": self.renaming}

    @property
    def wording(self) -> Wording:
        """How its prompts are worded."""
        return Wording(self.bare_prompt, self.renaming)

    @property
    def embedded(self) -> tuple[str, ...]:
        """Those of its models that are embedded: they read data alone, not what prompts tell."""
        return tuple(model for model in self.models if model.startswith(("reference/", "faulty/")))

    @property
    def uses_reference(self) -> bool:
        return all(model.startswith("reference/") for model in self.models)

    @property
    def models(self) -> tuple[str, str, str]:
        """Models of the large and the small planner and of the coder."""
        return self.planner_model, self.planner_small_model, self.coder_model

    def kept(self, recorded: Mapping[str, Any]) -> dict[str, Any]:
        """The recorded settings of a run with what it goes on with, but for what is of the present session only."""
        lasting = (MAY_CHANGE_ON_RESUME | MODELS) - OF_THIS_SESSION.keys() - {"runs", "resume"}
        return {name: getattr(self, name) if name in lasting else value for name, value in recorded.items()}
