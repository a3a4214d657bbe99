"""Which models a run uses, where their servers are, and which caps can hold for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from spca.common.errors import SettingsError
from spca.llm.calls.budget import Caps
from spca.llm.calls.preflight import Report, examine
from spca.llm.calls.prices import ModelTable
from spca.llm.providers.addresses import address_fault, is_providers_own
from spca.llm.providers.base import Limits
from spca.runs.settings import Settings

DEFAULT_MAX_COST: Final = 5.0
"""USD that a run may cost where no cap was given."""

_OLLAMA_SERVICE: Final = {"ollama/*": {"input": None, "output": None}}
_FLAGS: Final = ("--planner-model", "--planner-small-model", "--coder-model")
_NAMES: Final = ("planner_model", "planner_small_model", "coder_model")
ADDRESSES: Final = {"base_url": "OPENAI_BASE_URL", "google_base_url": "GOOGLE_GEMINI_BASE_URL"} | {
    "ollama_host": "OLLAMA_HOST"
}
"""Setting of a server's address -> environment variable that gives it."""
_PLACES: Final = dict(zip(("openai", "google", "ollama"), ADDRESSES.values(), strict=True))


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
        "google",
        ("GOOGLE_API_KEY", "GEMINI_API_KEY"),
        ("google/gemini-3.8-flash", "google/gemini-3.5-flash-lite", "google/gemini-3.8-flash"),
    ),
    Default("ollama", ("OLLAMA_HOST",), ("ollama/qwen3-coder:30b",) * 3),
)
"""In order of preference."""
_FAULTY: Final = Default("faulty", (), ("faulty/planner", "faulty/planner", "faulty/coder"))
_ROLES: Final = {default.prefix: default.models for default in (*DEFAULTS[:2], REFERENCE, _FAULTY)}
"""Models of each role by prefix, where a provider has all of them; an Ollama server has what its owner has fetched."""


def configured(environ: Mapping[str, str]) -> tuple[Default, ...]:
    """Defaults for which a key or server is set, the one that is used first; the embedded model comes last."""
    return (*(default for default in DEFAULTS if any(environ.get(v) for v in default.variables)), REFERENCE)


def models(given: Mapping[str, object], environ: Mapping[str, str], cwd: Path) -> dict[str, str]:
    """The models of a run: flag, else environment (``SPCA_PLANNER_MODEL`` ...), else default.

    Where a large planner is chosen, the other roles take its provider's defaults; where the provider has none, or a
    server of one's own stands for it, the model that was chosen plays them too.
    """
    chosen = {name: str(given.get(name) or environ.get(f"SPCA_{name.upper()}") or "") for name in _NAMES}
    there = dict(environ) | ({"OPENAI_BASE_URL": str(given["base_url"])} if given.get("base_url") else {})
    default = configured(there)[0].models
    if large := chosen["planner_model"]:
        prefix = large.partition("/")[0]
        is_elsewhere = not is_providers_own(prefix, there.get(_PLACES.get(prefix, "")))
        default = (large,) * 3 if is_elsewhere else _ROLES.get(prefix, (large,) * 3)
    return {name: absolute(chosen[name] or role, cwd) for name, role in zip(_NAMES, default, strict=True)}


def addresses(settings: Settings) -> dict[str, str | None]:
    """Base URLs by prefix."""
    return {"openai": settings.base_url, "google": settings.google_base_url, "ollama": settings.ollama_host}


def place(settings: Settings, model: str) -> str:
    """What a model's answers depend on besides its name: the address of its server, or the state of its file."""
    prefix, _, name = model.partition("/")
    if prefix != "llamacpp":
        return addresses(settings).get(prefix) or ""
    try:
        file = Path(name).stat()
    except OSError:
        return ""
    return f"{file.st_size} {file.st_mtime_ns}"


def table(settings: Settings) -> ModelTable:
    """What is known of models, the user's own table first; what Ollama's own service runs has no known price.

    Raises:
        SettingsError: that table cannot be read.
    """
    known = ModelTable.load(Path(settings.model_table) if settings.model_table else None)
    return known.after(_OLLAMA_SERVICE) if "ollama.com" in (settings.ollama_host or "") else known


def limits(settings: Settings) -> Limits:
    """Of every answer."""
    return Limits(settings.max_output_tokens, None, settings.timeout)


def caps(settings: Settings, known: ModelTable) -> Caps:
    """The caps of a run.

    Raises:
        SettingsError: its cost cannot be capped, because a price is unknown; names the ways out.
    """
    unknown = [model for model in dict.fromkeys(settings.models) if known.price(model) is None]
    others = settings.max_calls is not None or settings.max_tokens is not None
    if unknown and (settings.max_cost is not None or not others):
        cap = "--max-cost" if settings.max_cost is not None else f"the cost cap of {DEFAULT_MAX_COST:g} USD"
        fix = "leave it out and give" if settings.max_cost is not None else "give"
        raise SettingsError(
            f"the price of {unknown[0]} is unknown, so {cap} cannot hold: {fix} --max-calls N or --max-tokens N, "
            "or its price with --model-table FILE (docs/models.md)"
        )
    dear = [model for model in settings.models if (price := known.price(model)) and not price.is_free]
    if settings.max_cost == 0 and dear:
        raise SettingsError(f"--max-cost 0 leaves no call of {dear[0]}, which is paid for: give an amount")
    cost = DEFAULT_MAX_COST if settings.max_cost is None and not unknown else settings.max_cost
    return Caps(cost, settings.max_calls, settings.max_tokens)


def check(settings: Settings) -> None:
    """Refuse models and addresses that cannot be meant.

    Raises:
        SettingsError: names the flag.
    """
    for flag, model, role in zip(_FLAGS, settings.models, ("planner", "planner", "coder"), strict=True):
        if model.startswith(("reference/", "faulty/")) and not model.endswith(f"/{role}"):
            raise SettingsError(f"{flag} {model}: the embedded model for this is {model.partition('/')[0]}/{role}")
    for name, variable in ADDRESSES.items():
        _check_address("--base-url (OPENAI_BASE_URL)" if name == "base_url" else variable, getattr(settings, name))


def look_up(settings: Settings) -> Report:
    """Look up the models of a run at their providers; see :func:`spca.llm.calls.preflight.examine`."""
    return examine(settings.models, addresses=addresses(settings), table=table(settings))


def greeting(settings: Settings, environ: Mapping[str, str], known: Caps) -> str:
    """One line on which models a run uses, why, what caps hold, and how to choose others."""
    if settings.uses_reference:
        return (
            "Models: the embedded reference model (no key needed). "
            "For a real one: set OPENAI_API_KEY in .env or give --planner-model and --coder-model (docs/models.md)."
        )
    large, small, coder = settings.models
    names = f"planner {large}, {'' if small == large else f'small planner {small}, '}coder {coder}"
    used = {model.partition("/")[0] for model in settings.models}
    there = [f"{prefix} at {url}" for prefix, url in addresses(settings).items() if url and prefix in used]
    limit = [f"{known.cost_usd:g} USD"] if known.cost_usd is not None else []
    limit += [f"{known.calls} requests"] if known.calls is not None else []
    limit += [f"{known.tokens} tokens"] if known.tokens is not None else []
    parts = [f"Models: {names}", *there, f"capped at {' and '.join(limit)}"]
    found = configured(environ)
    also = [default.prefix for default in found[1:-1] if default.prefix not in used]
    if found[0].models == settings.models and also:
        parts.append(f"{' and '.join(also)} could be used too (docs/models.md)")
    return "; ".join(parts) + "."


def absolute(model: str, cwd: Path) -> str:
    """A model that is a file or folder, with its path made absolute: a run may go on from another folder."""
    prefix, _, path = model.partition("/")
    return f"{prefix}/{cwd / path}" if prefix in ("replay", "llamacpp") and path else model


def _check_address(name: str, url: str | None) -> None:
    if url is not None and (fault := address_fault(name, url, is_host=name == "OLLAMA_HOST")):
        raise SettingsError(fault)
