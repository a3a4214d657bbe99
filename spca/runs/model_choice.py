"""Which models a run uses, where their servers are, and which caps can hold for them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from spca.common.command import program
from spca.common.errors import SettingsError
from spca.common.installation import applications
from spca.common.text import counted
from spca.errors import ResumeError
from spca.llm.calls.budget import Caps, capped
from spca.llm.calls.cache import place_of
from spca.llm.calls.preflight import Report, check_spelling, examine
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.addresses import VARIABLES, address_fault, is_providers_own
from spca.llm.providers.base import Limits
from spca.llm.providers.model_names import EFFORTS, WITHOUT_EFFORT, ModelName, with_effort
from spca.llm.providers.registry import SERVERS_VARIABLE, own_servers, provider_for, servers_text
from spca.llm.providers.servers import Server, Servers
from spca.runs.settings import ADDRESSES, Settings

DEFAULT_MAX_COST: Final = 5.0
"""USD that a run may cost where no cap was given."""

_WITHOUT_SERVER: Final = "offline, --planner-model reference/planner takes the embedded model"
_AT_EDITOR: Final = "human/editor"
_FILES: Final = ("replay", "llamacpp", "human")
EFFORT_OF: Final = {f"{role}_model": f"{role}_effort" for role in ("planner", "planner_small", "coder")}
"""Option of each role's model -> option of its effort, which is another way to write ``@WORD`` after the model."""
_NAMES: Final = tuple(EFFORT_OF)


@dataclass(frozen=True, slots=True)
class Default:
    """Models of the large and small planner and the coder of a provider, used where one of ``variables`` is set."""

    prefix: str
    variables: tuple[str, ...]
    models: tuple[str, str, str]


REFERENCE: Final = Default("reference", (), ("reference/planner", "reference/planner", "reference/coder"))
DEFAULTS: Final = (
    Default(
        "openai",
        ("OPENAI_API_KEY", "OPENAI_BASE_URL"),
        ("openai/gpt-6.1-sol", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol"),
    ),
    Default(
        "anthropic",
        ("ANTHROPIC_API_KEY",),
        ("anthropic/claude-opus-5-5", "anthropic/claude-sonnet-5-5", "anthropic/claude-opus-5-5"),
    ),
    Default(
        "google",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ("google/gemini-3.8-flash", "google/gemini-3.5-flash-lite", "google/gemini-3.8-flash"),
    ),
    Default("ollama", ("OLLAMA_HOST",), ("ollama/qwen3-coder:30b",) * 3),
)
"""In order of preference."""
_FAULTY: Final = Default("faulty", (), ("faulty/planner", "faulty/planner", "faulty/coder"))
_ROLES: Final = {default.prefix: default.models for default in (*DEFAULTS[:-1], REFERENCE, _FAULTY)}
"""Models of each role by prefix, where a provider has all of them; an Ollama server has what its owner has fetched."""


def configured(environ: Mapping[str, str]) -> tuple[Default, ...]:
    """Defaults for which a key or server is set, the one that is used first; the embedded model comes last."""
    return (*(default for default in DEFAULTS if any(environ.get(v) for v in default.variables)), REFERENCE)


def chosen(given: Mapping[str, Any], environ: Mapping[str, str], cwd: Path) -> dict[str, Any]:
    """Models and addresses of a new run: flag, else environment (``SPCA_PLANNER_MODEL`` ...), else default.

    Where a large planner is chosen, the other roles take its provider's defaults; where the provider has none, or a
    server of one's own stands for it, the model that was chosen plays them too.

    Raises:
        SettingsError: as :func:`check`.
    """
    names = {name: str(given.get(name) or environ.get(f"SPCA_{name.upper()}") or "") for name in _NAMES}
    names = {name: model and _with_effort(name, model, given, environ) for name, model in names.items()}
    there = dict(environ) | ({"OPENAI_BASE_URL": str(given["base_url"])} if given.get("base_url") else {})
    default = configured(there)[0].models
    if large := names["planner_model"]:
        prefix = large.partition("/")[0]
        is_elsewhere = not is_providers_own(prefix, there.get(VARIABLES.get(prefix, "")))
        default = (large,) * 3 if is_elsewhere else _ROLES.get(prefix, (large,) * 3)
    values: dict[str, Any] = {
        name: names[name] or _with_effort(name, model, given, environ)
        for name, model in zip(_NAMES, default, strict=True)
    }
    values = absolute(values, cwd)
    values |= {name: given.get(name) or environ.get(variable) or None for name, variable in ADDRESSES.items()}
    values["servers"] = _used(own(given, environ), (values[name] for name in _NAMES))
    check(values)
    return values


def _with_effort(name: str, model: str, given: Mapping[str, Any], environ: Mapping[str, str]) -> str:
    """The model of a role with the effort of its flag, else of its variable.

    A flag goes before what a variable says. A variable says nothing of a model without efforts that is not its own.

    Raises:
        SettingsError: see :func:`with_effort`.
    """
    option, asked = EFFORT_OF[name], ModelName.parse(model)
    if word := given.get(option):
        return with_effort(model if name in given else asked.model, word, _flag(option))
    variable, is_given = f"SPCA_{option.upper()}", name in given
    is_set = not is_given and bool(environ.get(f"SPCA_{name.upper()}"))
    word = environ.get(variable)
    if not word or (is_given and asked.effort) or (asked.prefix in WITHOUT_EFFORT and not is_set):
        return model
    return with_effort(model if is_given or is_set else asked.model, word, variable)


def _flag(option: str) -> str:
    return f"--{option.replace('_', '-')}"


def moved(
    given: Mapping[str, Any], recorded: Mapping[str, Any], environ: Mapping[str, str], cwd: Path, kind: str = "run"
) -> dict[str, Any]:
    """The models given, and the addresses of a run that goes on: flag, else environment, else as recorded.

    Raises:
        ResumeError: an effort is not that of an evaluation.
        SettingsError: as :func:`check`.
    """
    models = {name: given[name] for name in _NAMES if name in given}
    for name, option in EFFORT_OF.items():
        if option in given:
            flag, word, known = _flag(option), given[option], recorded[name]
            models[name] = with_effort(models.get(name) or ModelName.parse(known).model, word, flag)
            if models[name] != known and kind != "run":
                raise ResumeError(f"{flag} {word} contradicts the {kind}, which has {known}: leave {flag} out")
    values = {name: given.get(name) or environ.get(variable) or recorded[name] for name, variable in ADDRESSES.items()}
    values["base_url"] = given.get("base_url") or recorded["base_url"] or values["base_url"]
    there = _recorded(recorded["servers"]) | own(given, environ)
    asked = dict(recorded) | absolute(models, cwd)
    values["servers"] = _used(there, (asked[name] for name in _NAMES))
    check(asked | values)
    return absolute(models, cwd) | values


def own(given: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Server]:
    """Servers of the user's own, of flags and of the environment.

    Raises:
        SettingsError: see :func:`own_servers`.
    """
    return own_servers(given.get("servers", ()), environ.get(SERVERS_VARIABLE, ""))


def _used(servers: Servers, models: Iterable[str]) -> str | None:
    """The servers of the user's own that models name, as they are recorded."""
    prefixes = dict.fromkeys(ModelName.parse(model).prefix for model in models)
    return servers_text({prefix: servers[prefix] for prefix in prefixes if prefix in servers})


def _recorded(servers: str | None) -> dict[str, Server]:
    return own_servers((), servers or "")


def absolute(given: Mapping[str, Any], cwd: Path) -> dict[str, Any]:
    """The models given; one that is a file or folder has its path made absolute: a run may go on from elsewhere."""
    parts = {name: given[name].partition("/") for name in _NAMES if name in given}
    return {
        name: f"{prefix}/{_found(prefix, path, cwd)}"
        if prefix in _FILES and path and given[name] != _AT_EDITOR
        else given[name]
        for name, (prefix, _, path) in parts.items()
    }


def _found(prefix: str, path: str, cwd: Path) -> Path:
    """Where a path leads: from the current folder, and to an example that ships from anywhere."""
    here, shipped = cwd / path, applications() / path
    return shipped if prefix == "replay" and os.path.exists(shipped) and not os.path.lexists(here) else here


def check(values: Mapping[str, Any]) -> None:
    """Refuse models and addresses that cannot be meant.

    Raises:
        SettingsError: names the flag.
    """
    addresses = dict(zip(VARIABLES, ADDRESSES, strict=True))
    for name, role in zip(_NAMES, ("planner", "planner", "coder"), strict=True):
        flag, model = _flag(name), values[name]
        asked = ModelName.parse(model)
        _, at, word = asked.name.rpartition("@")
        if at and word in EFFORTS and asked.prefix in WITHOUT_EFFORT and not Path(asked.name).exists():
            raise SettingsError(f"{flag} {model}: {asked.prefix}/... reasons as it does: leave @{word} out")
        if asked.prefix in ("reference", "faulty") and asked.name.rpartition("/")[2] != role:
            raise SettingsError(f"{flag} {model}: the embedded model for this is {asked.prefix}/{role}")
        is_own = asked.prefix in addresses and is_providers_own(asked.prefix, values[addresses[asked.prefix]])
        if at and not asked.effort and is_own:
            raise SettingsError(f"{flag} {model}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")
    for name, variable in ADDRESSES.items():
        said, url = "--base-url (OPENAI_BASE_URL)" if name == "base_url" else variable, values[name]
        if url is not None and (fault := address_fault(said, url, is_host=variable == "OLLAMA_HOST")):
            raise SettingsError(fault)


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run: their names by role, where their servers are, and what is known of them.

    Attributes:
        names: of the large and the small planner and of the coder.
        servers: by prefix.
        table: the user's own first; what Ollama's own service runs has no known price.
        limits: of every answer.
        cost_money: one of them is paid for, or may be.
    """

    settings: Settings
    names: tuple[str, str, str]
    servers: Servers
    table: ModelTable
    limits: Limits
    cost_money: bool

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Return the models that the settings name; reads the model table.

        Raises:
            SettingsError: that table cannot be read.
        """
        known = ModelTable.load(Path(settings.model_table) if settings.model_table else None)
        known = known.at_ollama(settings.ollama_host)
        servers = {prefix: Server(getattr(settings, name)) for prefix, name in zip(VARIABLES, ADDRESSES, strict=True)}
        servers |= _recorded(settings.servers)
        limits = Limits(settings.max_output_tokens, None, settings.timeout)
        names = settings.models
        cost_money = not all(price and price.is_free for price in map(known.price, names))
        return cls(settings, names, servers, known, limits, cost_money)

    def place(self, model: str) -> str:
        """What a model's answers depend on besides its name; see :func:`spca.llm.calls.cache.place_of`."""
        return place_of(model, self.servers)

    def caps(self) -> Caps:
        """The caps of a run.

        Raises:
            SettingsError: its cost cannot be capped, because a price is unknown; names the ways out.
        """
        asked = self.settings
        caps = Caps(asked.max_cost, asked.max_calls, asked.max_tokens)
        return capped(self.names, self.table, caps, DEFAULT_MAX_COST)

    def look_up(self) -> Report:
        """Look up the models of a run at their providers; see :func:`spca.llm.calls.preflight.examine`."""
        return examine(self.names, servers=self.servers, table=self.table)

    def greeting(self, environ: Mapping[str, str], caps: Caps) -> str:
        """One line on which models a run uses, why, what caps can be reached, and how to choose others."""
        if all(model.startswith("reference/") for model in self.names):
            return (
                "Models: the embedded reference model (no key needed). "
                "For a real one: set OPENAI_API_KEY in .env or give --planner-model and --coder-model; "
                f"{program()} models lists what there is (docs/models.md)."
            )
        large, small, coder = self.names
        names = f"planner {large}, {'' if small == large else f'small planner {small}, '}coder {coder}"
        used = {model.partition("/")[0] for model in self.names}
        there = [
            f"{prefix} at {server.url}" for prefix, server in self.servers.items() if server.url and prefix in used
        ]
        limit = [f"{caps.cost_usd:g} USD"] if caps.cost_usd is not None and self.cost_money else []
        limit += [counted(caps.calls, "request")] if caps.calls is not None else []
        limit += [counted(caps.tokens, "token")] if caps.tokens is not None else []
        parts = [f"Models: {names}", *there, *([f"capped at {' and '.join(limit)}"] if limit else [])]
        found = configured(environ)
        also = [default.prefix for default in found[1:-1] if default.prefix not in used]
        if found[0].models == self.names and also:
            parts.append(f"{' and '.join(also)} could be used too (docs/models.md)")
        return "; ".join(parts) + "."


def look_up(settings: Settings) -> Report:
    """Look up the models of a run at their providers."""
    return Models.of(settings).look_up()


def admitted(settings: Settings) -> tuple[Models, Caps, str]:
    """Return the models of a run, its caps and its first line, once nothing speaks against paying them.

    Warns of what ends soon or cannot be looked up.

    Raises:
        UserError: a model does not exist or lacks a key, its cost cannot be capped, or it is missing at its provider.
    """
    models = Models.of(settings)
    for name in models.names:
        provider_for(name, servers=models.servers, table=models.table)
    caps = models.caps()
    if settings.preflight:
        report = models.look_up()
        report.require_servers(_WITHOUT_SERVER)
        if warning := report.warning():
            print(f"warning: {warning}", file=sys.stderr, flush=True)
    else:
        check_spelling(models.names, models.servers, models.table)
    return models, caps, models.greeting(os.environ, caps)
