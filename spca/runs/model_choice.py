"""Which models a run uses, where their servers are, and which caps can hold for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, Self

from spca.common.command import program
from spca.common.errors import SettingsError
from spca.common.installation import applications
from spca.common.text import counted
from spca.errors import ResumeError
from spca.llm.calls.budget import Caps, require_caps
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.lookup import Report
from spca.llm.catalogue.model_ref import EFFORTS, ModelRef
from spca.llm.catalogue.servers import (
    SERVERS_VARIABLE,
    VARIABLES,
    Server,
    Servers,
    find_address_fault,
    is_providers_own,
    parse_servers,
)
from spca.runs.settings import PLAIN, ROLES, ModelSettings

DEFAULT_MAX_COST: Final = 5.0
"""USD that a run may cost where no cap was given."""

_WITHOUT_SERVER: Final = "offline, --planner-model reference/planner takes the embedded model"
_AT_EDITOR: Final = "human/editor"
_FILES: Final = ("replay", "llamacpp", "human")
EFFORT_OF: Final = {f"{role}_model": f"{role}_effort" for role in ROLES}
"""Option of each role's model -> option of its effort, which is another way to write ``@WORD`` after the model."""


@dataclass(frozen=True, slots=True)
class CapOptions:
    """What a user says that a run may spend; None where nothing is said."""

    max_cost: float | None = None
    max_calls: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class ModelOptions(CapOptions):
    """What a user says of the models of a run; None where nothing is said.

    Attributes:
        servers: values of ``--server``.
        preflight: whether the models are looked up before anything is paid.
        cache: whether answers of other runs are served.
    """

    planner_model: str | None = None
    planner_small_model: str | None = None
    coder_model: str | None = None
    planner_effort: str | None = None
    planner_small_effort: str | None = None
    coder_effort: str | None = None
    base_url: str | None = None
    servers: tuple[str, ...] = ()
    model_table: str | None = None
    timeout: float | None = None
    max_output_tokens: int | None = None
    preflight: bool = True
    cache: bool = False

    def of_role(self, role: str) -> tuple[str | None, str | None]:
        """Return the model and the effort that are given for a role."""
        return getattr(self, f"{role}_model"), getattr(self, f"{role}_effort")


@dataclass(frozen=True, slots=True)
class Default:
    """Models of the large and small planner and the coder of a provider, used where one of ``variables`` is set."""

    prefix: str
    variables: tuple[str, ...]
    models: tuple[ModelRef, ...]


def _make_default(prefix: str, variables: tuple[str, ...], *names: str) -> Default:
    return Default(prefix, variables, tuple(ModelRef(prefix, name) for name in names))


REFERENCE: Final = _make_default("reference", (), "planner", "planner", "coder")
DEFAULTS: Final = (
    _make_default("openai", ("OPENAI_API_KEY", "OPENAI_BASE_URL"), "gpt-6.1-sol", "gpt-6.1-terra", "gpt-6.1-sol"),
    _make_default("anthropic", ("ANTHROPIC_API_KEY",), "claude-opus-5-5", "claude-sonnet-5-5", "claude-opus-5-5"),
    _make_default(
        "google",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        "gemini-3.8-flash",
        "gemini-3.5-flash-lite",
        "gemini-3.8-flash",
    ),
    _make_default("ollama", ("OLLAMA_HOST",), "qwen3-coder:30b", "qwen3-coder:30b", "qwen3-coder:30b"),
)
"""In order of preference."""
_FAULTY: Final = _make_default("faulty", (), "planner", "planner", "coder")
_ROLES: Final = {default.prefix: default.models for default in (*DEFAULTS[:-1], REFERENCE, _FAULTY)}
"""Models of each role by prefix, where a provider has all of them; an Ollama server has what its owner has fetched."""


def list_configured(environ: Mapping[str, str]) -> tuple[Default, ...]:
    """Return the defaults for which a key or server is set, in order; the embedded model comes last."""
    return (*(default for default in DEFAULTS if any(environ.get(v) for v in default.variables)), REFERENCE)


def resolve_models(options: ModelOptions, environ: Mapping[str, str], cwd: Path) -> ModelSettings:
    """Return the models of a new run: flag, else environment (``SPCA_PLANNER_MODEL`` ...), else default.

    Where a large planner is chosen, the other roles take its provider's defaults; where the provider has none, or a
    server of one's own stands for it, the model that was chosen plays them too.

    Raises:
        SettingsError: a model or an address cannot be meant; names the flag.
    """
    urls = {prefix: environ.get(variable) or None for prefix, variable in VARIABLES.items()}
    urls["openai"] = options.base_url or urls["openai"]
    chosen: dict[str, ModelRef] = {}
    for role in ROLES:
        if text := options.of_role(role)[0] or environ.get(f"SPCA_{role.upper()}_MODEL"):
            chosen[role] = _add_effort(role, ModelRef.parse(text), options, environ)
    defaults = _find_defaults(chosen.get("planner"), urls, environ)
    for role, ref in zip(ROLES, defaults, strict=True):
        if role not in chosen:
            chosen[role] = _add_effort(role, ref, options, environ)
    planner, planner_small, coder = (_make_absolute(chosen[role], cwd) for role in ROLES)
    return _apply_options(
        options, ModelSettings(planner, planner_small, coder), urls, user_servers(options, environ), cwd
    )


def models_for_resume(
    options: ModelOptions, recorded: ModelSettings, environ: Mapping[str, str], cwd: Path, kind: str = "run"
) -> ModelSettings:
    """Return the models of a run that goes on: as recorded, but for what options say.

    Servers may have moved: a flag says so, and for those without a flag the environment.

    Args:
        kind: what goes on, as the user knows it; an evaluation keeps its models.

    Raises:
        ResumeError: a model or an effort is not that of an evaluation.
        SettingsError: a model or an address cannot be meant; names the flag.
    """
    refs = (_resume_role(role, ref, options, cwd, kind) for role, ref in zip(ROLES, recorded.refs, strict=True))
    planner, planner_small, coder = refs
    known = replace(recorded, planner=planner, planner_small=planner_small, coder=coder)
    urls = {prefix: environ.get(name) or known.servers[prefix].url for prefix, name in VARIABLES.items()}
    urls["openai"] = options.base_url or known.servers["openai"].url or urls["openai"]
    named = {name: server for name, server in known.servers.items() if server.is_named}
    return _apply_options(options, known, urls, named | user_servers(options, environ), cwd)


def _apply_options(
    options: ModelOptions, known: ModelSettings, urls: Mapping[str, str | None], named: Servers, cwd: Path
) -> ModelSettings:
    """Return the settings with what options say besides models and addresses.

    Args:
        known: holds for what options leave out.
        urls: addresses of providers by prefix.
        named: servers of the user's own; those that no model names are left out.
    """
    servers = {prefix: Server(url) for prefix, url in urls.items()}
    servers |= {ref.prefix: named[ref.prefix] for ref in known.refs if ref.prefix in named}
    given = {name: getattr(options, name) for name in PLAIN}
    changed = {name: value for name, value in given.items() if value is not None}
    if options.model_table is not None:
        changed["model_table"] = str(cwd / options.model_table)
    models = replace(known, servers=servers, **changed)
    _check_models(models)
    return models


def user_servers(options: ModelOptions, environ: Mapping[str, str]) -> dict[str, Server]:
    """Return the servers of the user's own, of flags and of the environment.

    Raises:
        SettingsError: see :func:`parse_servers`.
    """
    return parse_servers(options.servers, environ.get(SERVERS_VARIABLE, ""))


def _find_defaults(
    large: ModelRef | None, urls: Mapping[str, str | None], environ: Mapping[str, str]
) -> tuple[ModelRef, ...]:
    """Return the models of roles for which none is chosen; ``large`` is the large planner that is."""
    if large is None:
        at_openai = {"OPENAI_BASE_URL": urls["openai"]} if urls["openai"] else {}
        return list_configured({**environ, **at_openai})[0].models
    everywhere = (large, large, large)
    if not is_providers_own(large.prefix, urls.get(large.prefix)):
        return everywhere
    return _ROLES.get(large.prefix, everywhere)


def _add_effort(role: str, ref: ModelRef, options: ModelOptions, environ: Mapping[str, str]) -> ModelRef:
    """Return the model of a role with the effort of its flag, else of its variable.

    A flag goes before what a variable says. A variable says nothing of a model without efforts that is not its own.

    Raises:
        SettingsError: see :meth:`ModelRef.with_effort`.
    """
    model, word = options.of_role(role)
    is_given = bool(model)
    is_set = not is_given and bool(environ.get(f"SPCA_{role.upper()}_MODEL"))
    if word:
        return (ref if is_given else ref.without_effort()).with_effort(word, _write_flag(role, "effort"))
    variable = f"SPCA_{role.upper()}_EFFORT"
    word = environ.get(variable)
    is_settled = bool(is_given and ref.effort) or (ref.runs_in_process and not is_set)
    if not word or is_settled:
        return ref
    return (ref if is_given or is_set else ref.without_effort()).with_effort(word, variable)


def _resume_role(role: str, known: ModelRef, options: ModelOptions, cwd: Path, kind: str) -> ModelRef:
    """Return the model with which a role goes on."""
    ref, contradiction = known, ""
    model, word = options.of_role(role)
    if model:
        ref = _make_absolute(ModelRef.parse(model), cwd)
        contradiction = f"{_write_flag(role)} {ref}"
    if word:
        flag = _write_flag(role, "effort")
        ref = (ref if model else ref.without_effort()).with_effort(word, flag)
        contradiction = f"{flag} {word}"
    if ref != known and kind != "run":
        flag = contradiction.partition(" ")[0]
        raise ResumeError(f"{contradiction} contradicts the {kind}, which has {known}: leave {flag} out")
    return ref


def _write_flag(role: str, option: str = "model") -> str:
    return f"--{role.replace('_', '-')}-{option}"


def _make_absolute(ref: ModelRef, cwd: Path) -> ModelRef:
    """Return a model with its path made absolute if it is a file or folder: a run may go on from elsewhere.

    A path leads from the current folder, and to an example that ships from anywhere.
    """
    if ref.prefix not in _FILES or not ref.name or str(ref) == _AT_EDITOR:
        return ref
    here = cwd / ref.name
    shipped = applications() / ref.name
    is_shipped = ref.prefix == "replay" and os.path.exists(shipped) and not os.path.lexists(here)
    return replace(ref, name=str(shipped if is_shipped else here))


def _check_models(models: ModelSettings) -> None:
    """Refuse models and addresses that cannot be meant.

    Raises:
        SettingsError: names the flag.
    """
    for role, part, ref in zip(ROLES, ("planner", "planner", "coder"), models.refs, strict=True):
        said = f"{_write_flag(role)} {ref}"
        _, at, word = ref.name.rpartition("@")
        if at and word in EFFORTS and ref.runs_in_process and not Path(ref.name).exists():
            raise SettingsError(f"{said}: {ref.prefix}/... reasons as it does: leave @{word} out")
        if ref.is_embedded and ref.name.rpartition("/")[2] != part:
            raise SettingsError(f"{said}: the embedded model for this is {ref.prefix}/{part}")
        is_own = ref.prefix in VARIABLES and is_providers_own(ref.prefix, models.servers[ref.prefix].url)
        if at and not ref.effort and is_own:
            raise SettingsError(f"{said}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")
    for prefix, variable in VARIABLES.items():
        said = "--base-url (OPENAI_BASE_URL)" if prefix == "openai" else variable
        url = models.servers[prefix].url
        if url is not None and (fault := find_address_fault(said, url, is_host=prefix == "ollama")):
            raise SettingsError(fault)


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run, with what is known of them.

    Attributes:
        settings: which they are, and where.
        catalogue: what they cost, and who answers for them.
        cost_money: one of them is paid for, or may be.
    """

    settings: ModelSettings
    catalogue: Catalogue
    cost_money: bool

    @classmethod
    def load(cls, settings: ModelSettings) -> Self:
        """Return the models that the settings name; reads the model table.

        Raises:
            SettingsError: that table cannot be read.
        """
        catalogue = Catalogue.load(settings.model_table, settings.servers)
        prices = [catalogue.price(ref) for ref in settings.refs]
        return cls(settings, catalogue, not all(price and price.is_free for price in prices))

    def caps(self) -> Caps:
        """Return the caps of a run.

        Raises:
            SettingsError: its cost cannot be capped, because a price is unknown; names the ways out.
        """
        return require_caps(self.settings.refs, self.catalogue, self.settings.caps, DEFAULT_MAX_COST)

    def greeting(self, environ: Mapping[str, str], caps: Caps) -> str:
        """Return one line on which models a run uses, why, what caps can be reached, and how to choose others."""
        if self.settings.uses_reference:
            return (
                "Models: the embedded reference model (no key needed). "
                "For a real one: set OPENAI_API_KEY in .env or give --planner-model and --coder-model; "
                f"{program()} models lists what there is (docs/models.md)."
            )
        large, small, coder = self.settings.refs
        small_words = "" if small == large else f"small planner {small}, "
        parts = [f"Models: planner {large}, {small_words}coder {coder}"]
        used = {ref.prefix for ref in self.settings.refs}
        for prefix, server in self.settings.servers.items():
            if server.url and prefix in used:
                parts.append(f"{prefix} at {server.url}")
        if limits := self._list_limits(caps):
            parts.append(f"capped at {' and '.join(limits)}")
        found = list_configured(environ)
        also = [default.prefix for default in found[1:-1] if default.prefix not in used]
        if also and found[0].models == self.settings.refs:
            parts.append(f"{' and '.join(also)} could be used too (docs/models.md)")
        return "; ".join(parts) + "."

    def _list_limits(self, caps: Caps) -> list[str]:
        limits = []
        if caps.cost_usd is not None and self.cost_money:
            limits.append(f"{caps.cost_usd:g} USD")
        if caps.calls is not None:
            limits.append(counted(caps.calls, "request"))
        if caps.tokens is not None:
            limits.append(counted(caps.tokens, "token"))
        return limits


def look_up(settings: ModelSettings) -> Report:
    """Look up the models of a run at their providers."""
    return Models.load(settings).catalogue.look_up(settings.refs)


def require_usable(settings: ModelSettings) -> tuple[Models, Caps, str]:
    """Return the models of a run, its caps and its first line, once nothing speaks against paying them.

    Warns of what ends soon or cannot be looked up.

    Raises:
        UserError: a model does not exist or lacks a key, its cost cannot be capped, or it is missing at its provider.
    """
    models = Models.load(settings)
    for ref in settings.refs:
        models.catalogue.provider(ref)
    caps = models.caps()
    warning = models.catalogue.find_warning(settings.refs, _WITHOUT_SERVER, is_asked=settings.preflight)
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    return models, caps, models.greeting(os.environ, caps)
