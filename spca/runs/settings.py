"""The settings of a run, as one frozen value that is passed to all parts of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self

from spca.body import Body
from spca.errors import ResumeError
from spca.llm.calls.budget import Caps
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.servers import VARIABLES, Server, Servers, format_servers, parse_servers
from spca.llm.providers.base import TIMEOUT_S, RequestOptions
from spca.plugins.registry import find_body
from spca.prompts import Wording
from spca.prompts.overrides import TemplateFolder
from spca.sense.renaming import TRUE_WORDS, Renaming

ADDRESSES: Final = {
    "base_url": "openai",
    "anthropic_base_url": "anthropic",
    "google_base_url": "google",
    "ollama_host": "ollama",
}
"""Name of a provider's address in records -> prefix of the provider."""
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
"""Settings of models that are recorded without conversion."""
ABLATIONS: Final = {
    "--no-compile": ("compile", False),
    "--no-reuse": ("reuse", False),
    "--no-regression-check": ("regression_check", False),
    "--no-curriculum": ("carry_over", False),
    "--bare-prompt": ("bare_prompt", True),
}
"""Flag that switches off a part of learning -> name of the setting, and its value if the flag is given."""
MAY_CHANGE_ON_RESUME: Final = frozenset({"runs", "resume", "render", "quiet", "servers", *PLAIN} | ADDRESSES.keys())
"""Settings that may differ when a run is resumed."""
ROLES: Final = ("planner", "planner_small", "coder")
"""The roles of models: large planner, small planner, coder."""
MODELS: Final = frozenset(f"{role}_model" for role in ROLES)
"""Settings that flags may change when a run is resumed, but not when an evaluation is resumed."""
OF_THIS_SESSION: Final = {"render": False, "quiet": False, "cache": False, "preflight": True}
"""Settings of one session -> default. A resumed run takes the defaults, not the recorded values."""


_ADDED_LATER: Final = {"world": "minigrid", "prompts": None}
"""Settings that records of earlier runs lack -> the value that these runs had."""
_LEADING: Final = ("curriculum", "workspace", "runs", *(f"{role}_model" for role in ROLES))
"""Settings that come first in a record, in this order."""
_PLANNER: Final = ModelRef("reference", "planner")
_CODER: Final = ModelRef("reference", "coder")


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """The models of a run, their servers, and the limits on what they may spend.

    Attributes:
        planner: model that makes fresh plans, replans and repairs.
        planner_small: model that adapts trusted PDDL.
        coder: model that writes actions.
        servers: prefix -> server, for each prefix of :data:`VARIABLES`, and for each of the user's own servers that is
            in use.
        model_table: path of the user's table of context sizes and prices.
        max_cost, max_calls, max_tokens: caps of the user in USD, requests and tokens; None for no cap.
        max_output_tokens: cap on the tokens of each answer.
        timeout: seconds to wait for an answer.
        preflight: whether the models are looked up at their providers before any request is paid.
        cache: whether answers of other runs are reused.
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
    def limits(self) -> RequestOptions:
        """Limits on the length and the duration of each answer."""
        return RequestOptions(self.max_output_tokens, None, self.timeout)

    @property
    def caps(self) -> Caps:
        """The caps that the user has given."""
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
        """Those of the three models that are embedded. They read only the data of a prompt, not its instructions."""
        return tuple(ref for ref in self.refs if ref.is_embedded)

    @property
    def uses_reference(self) -> bool:
        """Whether all three models are the embedded reference model."""
        return all(ref.prefix == "reference" for ref in self.refs)

    def record(self) -> dict[str, Any]:
        """Return the settings as one flat dict for ``run.json``; ``servers`` lists the user's own servers."""
        roles = {f"{role}_model": str(ref) for role, ref in zip(ROLES, self.refs, strict=True)}
        addresses = {name: self.servers[prefix].url for name, prefix in ADDRESSES.items()}
        others = {name: getattr(self, name) for name in PLAIN}
        return {**roles, **addresses, "servers": format_servers(self.servers), **others}

    @classmethod
    def from_record(cls, recorded: Mapping[str, Any]) -> Self:
        """Return the settings from a dict that :meth:`record` has made.

        Raises:
            SettingsError: a server is invalid.
        """
        refs = [ModelRef.parse(recorded[f"{role}_model"]) for role in ROLES]
        planner, planner_small, coder = refs
        providers = {prefix: Server(recorded[name]) for name, prefix in ADDRESSES.items()}
        servers = providers | parse_servers((), recorded["servers"] or "")
        others = {name: recorded[name] for name in PLAIN}
        return cls(planner, planner_small, coder, servers, **others)


@dataclass(frozen=True, slots=True)
class Settings:
    """All settings of a run.

    Attributes:
        curriculum, workspace, runs: absolute paths.
        only: at most two values that select levels; see :meth:`spca.runs.curriculum.Curriculum.select`.
        compile: whether problem writers are asked for, kept and tried.
        reuse: whether models are shown PDDL that solved an earlier level.
        regression_check: whether rewritten methods are checked on levels that were solved before.
        carry_over: whether a new category continues with the agent and the writers of the previous category.
        bare_prompt: whether prompts tell only formats and primitives, not how the worlds work.
        rename_words: seed of the invented words for colours and kinds of objects; None for the true words.
        world: name of the world that plays the levels; see :mod:`spca.plugins.registry`.
        prompts: absolute path of a folder whose templates replace ours of the same names; None for ours alone.
        resume: the run to resume, as the user named it; None for a new run.
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
    world: str = "minigrid"
    prompts: str | None = None
    models: ModelSettings = ModelSettings()
    render: bool = False
    quiet: bool = False
    resume: str | None = None

    @property
    def ablations(self) -> tuple[str, ...]:
        """Flags that switch off parts of learning, and the flag that renames words, as far as they are set."""
        flags = [flag for flag, (name, value) in ABLATIONS.items() if getattr(self, name) is value]
        if self.rename_words is not None:
            flags.append(f"--rename-words {self.rename_words}")
        return tuple(flags)

    @property
    def renaming(self) -> Renaming:
        """The renaming of words for models and generated code."""
        vocabulary = self.body.vocabulary
        return Renaming(self.rename_words, vocabulary.renamed) if vocabulary else TRUE_WORDS

    @property
    def body(self) -> Body:
        """The body of the run's agent.

        Raises:
            SettingsError: no plugin has registered the world.
        """
        return find_body(self.world)

    @property
    def wording(self) -> Wording:
        """The wording of prompts.

        Raises:
            SettingsError: the folder of the user's templates cannot be read.
        """
        overrides = TemplateFolder.read(self.prompts) if self.prompts else None
        return Wording(self.bare_prompt, self.renaming, self.body, overrides)

    def record(self) -> dict[str, Any]:
        """Return all settings as one flat dict for ``run.json``, the settings of models included.

        The two values of ``only`` are recorded as ``only`` and ``levels``, as in all earlier versions.
        """
        flat: dict[str, Any] = {}
        for setting in fields(self):
            if setting.name == "models":
                flat |= self.models.record()
            elif setting.name == "only":
                first, second, *_ = (*self.only, None, None)
                flat |= {"only": first, "levels": second}
            else:
                flat[setting.name] = getattr(self, setting.name)
        names = dict.fromkeys((*_LEADING, *flat))
        return {name: flat[name] for name in names}

    @classmethod
    def from_record(cls, recorded: Mapping[str, Any], kind: str = "run") -> Self:
        """Return the settings from a dict that :meth:`record` has made.

        Settings of one session (:data:`OF_THIS_SESSION`) get their defaults.

        Args:
            kind: what has recorded the settings, for the error message: "run" or "evaluation".

        Raises:
            ResumeError: another version of the program recorded other settings.
            SettingsError: a server is invalid.
        """
        recorded = {**_ADDED_LATER, **recorded}
        if recorded.keys() != cls("", "", "").record().keys():
            raise ResumeError(f"the {kind} was begun by another version of this program: begin a new one")

        known = {**recorded, **OF_THIS_SESSION}
        plain_names = [field.name for field in fields(cls) if field.name not in ("models", "only")]
        values = {name: known[name] for name in plain_names}
        only_values = (known["only"], known["levels"])
        only = tuple(text for text in only_values if text is not None)
        return cls(**values, only=only, models=ModelSettings.from_record(known))

    def record_changes(self) -> dict[str, Any]:
        """Return the settings that a resumed run may change and must record for later resumptions."""
        lasting = (MAY_CHANGE_ON_RESUME | MODELS) - OF_THIS_SESSION.keys() - {"runs", "resume"}
        return {name: value for name, value in self.record().items() if name in lasting}
