"""What a run is told: one frozen value, passed down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from spca.errors import ResumeError
from spca.llm.calls.budget import Caps
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import VARIABLES, Server, Servers, format_servers, parse_servers
from spca.llm.providers.base import TIMEOUT_S, Limits
from spca.prompts import Wording
from spca.sense.renaming import Renaming

ADDRESSES: Final = {
    "base_url": "openai",
    "anthropic_base_url": "anthropic",
    "google_base_url": "google",
    "ollama_host": "ollama",
}
"""What records call the address of a provider -> its prefix."""
PLAIN: Final = (
    "model_table",
    "max_cost",
    "max_calls",
    "max_tokens",
    "max_output_tokens",
    "timeout",
    "preflight",
    "cache",
)
"""Settings of models that are recorded as they are."""
ABLATIONS: Final = {
    "--no-compile": ("compile", False),
    "--no-reuse": ("reuse", False),
    "--no-regression-check": ("regression_check", False),
    "--no-curriculum": ("carry_over", False),
    "--bare-prompt": ("bare_prompt", True),
}
"""Flag that takes away a part of learning -> its setting and the value that says so."""
MAY_CHANGE_ON_RESUME: Final = frozenset({"runs", "resume", "render", "quiet", "servers", *PLAIN} | ADDRESSES.keys())
ROLES: Final = ("planner", "planner_small", "coder")
MODELS: Final = frozenset(f"{role}_model" for role in ROLES)
"""What a run may go on with others of, where a flag names them; an evaluation may not."""
OF_THIS_SESSION: Final = {"render": False, "quiet": False, "cache": False, "preflight": True}
"""How a run is watched is not a property of the run: it is not taken over when the run goes on."""


_FIRST: Final = ("curriculum", "workspace", "runs", *(f"{role}_model" for role in ROLES))
"""Settings that stand first in a record."""
_PLANNER: Final = ModelRef("reference", "planner")
_CODER: Final = ModelRef("reference", "coder")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models of a run, where they are asked, and what they may spend.

    Attributes:
        planner: makes fresh plans, replans and repairs.
        planner_small: adapts PDDL that is trusted already.
        coder: writes actions.
        servers: the provider of each prefix of :data:`VARIABLES`, and the servers of the user's own that are asked.
        model_table: path of the user's table.
        max_cost, max_calls, max_tokens: caps that the user has given, in USD, requests and tokens.
        max_output_tokens, timeout: limits of every answer; the second in seconds.
        preflight: whether the models are looked up before anything is paid.
        cache: whether answers of other runs are served.
    """

    planner: ModelRef = _PLANNER
    planner_small: ModelRef = _PLANNER
    coder: ModelRef = _CODER
    servers: Servers = field(default_factory=lambda: dict.fromkeys(VARIABLES, Server()))
    model_table: str | None = None
    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_output_tokens: int | None = None
    timeout: float = TIMEOUT_S
    preflight: bool = True
    cache: bool = False

    @property
    def limits(self) -> Limits:
        """Limits of every answer."""
        return Limits(self.max_output_tokens, None, self.timeout)

    @property
    def caps(self) -> Caps:
        """Those that the user has given."""
        return Caps(self.max_cost, self.max_calls, self.max_tokens)

    @property
    def refs(self) -> tuple[ModelRef, ModelRef, ModelRef]:
        """Models of the large and the small planner and of the coder."""
        return self.planner, self.planner_small, self.coder

    @property
    def key_variables(self) -> tuple[str, ...]:
        """Environment variables that hold keys of the user's own servers."""
        return tuple(server.key_variable for server in self.servers.values() if server.key_variable)

    @property
    def embedded(self) -> tuple[ModelRef, ...]:
        """Those that are embedded: they read data alone, not what prompts tell."""
        return tuple(ref for ref in self.refs if ref.is_embedded)

    @property
    def uses_reference(self) -> bool:
        """Whether all of them are the embedded reference model."""
        return all(ref.prefix == "reference" for ref in self.refs)

    def record(self) -> dict[str, Any]:
        """Return them as they are recorded, flat; ``servers`` lists those of the user's own."""
        roles = {f"{role}_model": str(ref) for role, ref in zip(ROLES, self.refs, strict=True)}
        addresses = {name: self.servers[prefix].url for name, prefix in ADDRESSES.items()}
        others = {name: getattr(self, name) for name in PLAIN}
        return {**roles, **addresses, "servers": format_servers(self.servers), **others}

    @classmethod
    def from_record(cls, recorded: Mapping[str, Any]) -> Self:
        """Return the models that :meth:`record` has described.

        Raises:
            SettingsError: a server cannot be meant.
        """
        refs = [ModelRef.parse(recorded[f"{role}_model"]) for role in ROLES]
        planner, planner_small, coder = refs
        providers = {prefix: Server(recorded[name]) for name, prefix in ADDRESSES.items()}
        servers = providers | parse_servers((), recorded["servers"] or "")
        others = {name: recorded[name] for name in PLAIN}
        return cls(planner, planner_small, coder, servers, **others)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything a run is told; one value passed down, nothing global. Paths are absolute.

    Ablations: without ``compile`` no problem writers are asked for, kept or tried; without ``reuse`` no PDDL that
    solved a level is shown; without ``regression_check`` a rewritten method is kept unchecked; without ``carry_over``
    each category begins with the initial agent and no writers; with ``bare_prompt`` models are told formats and
    primitives only. ``rename_words`` is the seed of the words that stand for colours and kinds.

    ``only`` has at most two values, each of which narrows what is learned; see :meth:`Curriculum.select`.
    """

    curriculum: str
    workspace: str
    runs: str
    seed: int = 1
    start_category: str | None = None
    only: tuple[str, ...] = ()
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
    models: ModelSettings = ModelSettings()
    render: bool = False
    quiet: bool = False
    resume: str | None = None

    @property
    def ablations(self) -> tuple[str, ...]:
        """What differs from learning in full, as the flags that say so."""
        flags = [flag for flag, (name, value) in ABLATIONS.items() if getattr(self, name) is value]
        if self.rename_words is not None:
            flags.append(f"--rename-words {self.rename_words}")
        return tuple(flags)

    @property
    def renaming(self) -> Renaming:
        """The words that models and generated code are shown."""
        return Renaming(self.rename_words)

    @property
    def wording(self) -> Wording:
        """How its prompts are worded."""
        return Wording(self.bare_prompt, self.renaming)

    def record(self) -> dict[str, Any]:
        """Return what ``run.json`` holds of them: flat, the models among the others.

        The values of ``only`` stand under two names, as in the records of all earlier versions.
        """
        flat: dict[str, Any] = {}
        for each in fields(self):
            if each.name == "models":
                flat |= self.models.record()
            elif each.name == "only":
                first, second, *_ = (*self.only, None, None)
                flat |= {"only": first, "levels": second}
            else:
                flat[each.name] = getattr(self, each.name)
        return {name: flat[name] for name in dict.fromkeys((*_FIRST, *flat))}

    @classmethod
    def from_record(cls, recorded: Mapping[str, Any], kind: str = "run") -> Self:
        """Return the settings that :meth:`record` has described, but for what is of one session only.

        Args:
            kind: what has recorded them, as its user knows it.

        Raises:
            ResumeError: they are of another version of the program.
            SettingsError: a server cannot be meant.
        """
        if recorded.keys() != cls("", "", "").record().keys():
            raise ResumeError(f"the {kind} was begun by another version of this program: begin a new one")

        known = {**recorded, **OF_THIS_SESSION}
        plain_names = [field.name for field in fields(cls) if field.name not in ("models", "only")]
        values = {name: known[name] for name in plain_names}
        only_values = (known["only"], known["levels"])
        only = tuple(text for text in only_values if text is not None)
        return cls(**values, only=only, models=ModelSettings.from_record(known))

    def record_changes(self) -> dict[str, Any]:
        """Return what ``run.json`` holds of settings that another start may change, if they hold for later starts."""
        lasting = (MAY_CHANGE_ON_RESUME | MODELS) - OF_THIS_SESSION.keys() - {"runs", "resume"}
        return {name: value for name, value in self.record().items() if name in lasting}
