"""From what a user says of a run to its settings: flag, else environment, else what a run has recorded or a default."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from spca.common.environment import load_environment
from spca.common.errors import SettingsError
from spca.common.installation import applications, find_runs, home
from spca.errors import ResumeError
from spca.llm.catalogue.model_ref import EFFORTS, ModelRef
from spca.llm.catalogue.servers import (
    SERVERS_VARIABLE,
    VARIABLES,
    Server,
    find_address_fault,
    is_providers_own,
    parse_servers,
)
from spca.runs.default_models import choose_defaults
from spca.runs.options import UNSAFE_VARIABLE, ModelOptions, RunOptions
from spca.runs.recording.folder import Begun, RunFolder
from spca.runs.settings import ROLES, ModelSettings, Settings

_AT_EDITOR: Final = "human/editor"
_FILES: Final = ("replay", "llamacpp", "human")
"""Prefixes of models that are files or folders."""


def find_run(options: RunOptions) -> tuple[Settings, Begun | None]:
    """Return the settings of a new run and None, or those of the run to go on with and that run.

    Raises:
        UserError: options that exclude one another or contradict the run.
    """
    begun: Begun | None = None
    recorded: Settings | None = None
    keys: tuple[str, ...] = ()
    if options.kept.resume is not None:
        begun = RunFolder.load_begun(find_runs(options.kept.runs), options.kept.resume)
        runs = str(begun.folder.path.parent)
        recorded = replace(Settings.from_record(begun.info["settings"]), runs=runs)
        keys = recorded.models.key_variables
    environ = load_environment((*options.models.where.servers, *keys))
    return resolve_settings(options, environ, recorded), begun


def resolve_settings(options: RunOptions, environ: Mapping[str, str], recorded: Settings | None = None) -> Settings:
    """Return the settings of a new run, or of one that goes on: as recorded, but for what may change.

    Args:
        recorded: settings of the run that goes on, which lies in its ``runs`` now.

    Raises:
        ResumeError: an option contradicts the run.
        SettingsError: an option that cannot be meant, or options that exclude one another.
    """
    cwd = Path.cwd()
    if recorded:
        require_same(_list_claims(options, recorded, cwd), "run")

    base = recorded or _make_settings(options, environ, cwd)
    recorded_models = recorded.models if recorded else None
    settings = replace(
        base,
        models=resolve_models(options.models, environ, cwd, recorded_models),
        render=options.display.render,
        quiet=options.display.quiet,
        resume=options.kept.resume,
    )
    _check_settings(settings)
    return settings


def _make_settings(options: RunOptions, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Return the settings of a new run, but for its models and its display."""
    selection = options.selection
    ablations = options.ablations
    curriculum = selection.curriculum or applications() / "merged_curriculum2.json"
    workspace = options.kept.workspace or home(applications(), cwd) / "workspace"
    return Settings(
        curriculum=str(cwd / curriculum),
        workspace=str(cwd / workspace),
        runs=str(find_runs(options.kept.runs)),
        seed=1 if selection.seed is None else selection.seed,
        start_category=selection.start_category,
        only=selection.only,
        keep_agent=options.kept.keep_agent,
        keep_pddl=options.kept.keep_pddl,
        upstream_rules=selection.upstream_rules,
        compile=ablations.compile is not False,
        reuse=not ablations.no_reuse,
        regression_check=not ablations.no_regression_check,
        carry_over=not ablations.no_curriculum,
        bare_prompt=ablations.bare_prompt,
        rename_words=ablations.rename_words,
        unsafe_no_sandbox=options.solver.unsafe_no_sandbox,
        engine=options.solver.engine or environ.get("SPCA_ENGINE") or None,
    )


class Claim(NamedTuple):
    """What an option says of something that has recorded a value; ``said`` is None where it says nothing."""

    flag: str
    said: object
    recorded: object


def require_same(claims: Iterable[Claim], kind: str) -> None:
    """Refuse options that are not those of what goes on.

    Args:
        kind: what goes on, as its user knows it: a run or an evaluation.

    Raises:
        ResumeError: names the option.
    """
    for flag, said, recorded in claims:
        if said is None or said == recorded:
            continue
        option = flag if isinstance(said, bool) else f"{flag} {_show_value(said)}"

        is_without = recorded in (None, ()) or isinstance(recorded, bool)
        has = "was begun without" if is_without else f"has {_show_value(recorded)}"
        raise ResumeError(f"{option} contradicts the {kind}, which {has}: leave {flag} out")


def _show_value(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _claim_path(said: str | None, recorded: str, cwd: Path) -> str | None:
    """Return a path as it was given, or as it is recorded where the same one is meant."""
    return recorded if said and str(cwd / said) == recorded else said


def _list_claims(options: RunOptions, recorded: Settings, cwd: Path) -> list[Claim]:
    """Return what options say of what a run cannot change."""
    selection = options.selection
    kept = options.kept
    ablations = options.ablations
    curriculum = _claim_path(selection.curriculum, recorded.curriculum, cwd)
    workspace = _claim_path(kept.workspace, recorded.workspace, cwd)
    return [
        Claim("--start-category", selection.start_category, recorded.start_category),
        Claim("--only", selection.only or None, recorded.only),
        Claim("--seed", selection.seed, recorded.seed),
        Claim("--upstream-rules", selection.upstream_rules or None, recorded.upstream_rules),
        Claim("--curriculum", curriculum, recorded.curriculum),
        Claim("--keep-agent", kept.keep_agent or None, recorded.keep_agent),
        Claim("--keep-pddl", kept.keep_pddl or None, recorded.keep_pddl),
        Claim("--workspace", workspace, recorded.workspace),
        Claim("--no-compile" if ablations.compile is False else "--compile", ablations.compile, recorded.compile),
        Claim("--no-reuse", ablations.no_reuse or None, not recorded.reuse),
        Claim("--no-regression-check", ablations.no_regression_check or None, not recorded.regression_check),
        Claim("--no-curriculum", ablations.no_curriculum or None, not recorded.carry_over),
        Claim("--bare-prompt", ablations.bare_prompt or None, recorded.bare_prompt),
        Claim("--rename-words", ablations.rename_words, recorded.rename_words),
        Claim("--engine", options.solver.engine, recorded.engine),
        Claim("--unsafe-no-sandbox", options.solver.unsafe_no_sandbox or None, recorded.unsafe_no_sandbox),
    ]


# Models --------------------------------------------------------------------------------------------------------------


class _RoleChoice(NamedTuple):
    """What a user says of a role."""

    role: str
    model: str | None
    effort: str | None

    @property
    def flag(self) -> str:
        """The flag that names its model."""
        return f"--{self.role.replace('_', '-')}-model"

    @property
    def model_variable(self) -> str:
        """The variable that names its model."""
        return f"SPCA_{self.role.upper()}_MODEL"

    @property
    def effort_flag(self) -> str:
        """The flag of its effort."""
        return f"--{self.role.replace('_', '-')}-effort"


def _list_roles(options: ModelOptions) -> tuple[_RoleChoice, ...]:
    return (
        _RoleChoice("planner", options.planner_model, options.planner_effort),
        _RoleChoice("planner_small", options.planner_small_model, options.planner_small_effort),
        _RoleChoice("coder", options.coder_model, options.coder_effort),
    )


def resolve_models(
    options: ModelOptions,
    environ: Mapping[str, str],
    cwd: Path,
    recorded: ModelSettings | None = None,
    kind: str = "run",
) -> ModelSettings:
    """Return the models of a new run, or of one that goes on: as recorded, but for what options say.

    Where a large planner is chosen, the other roles take its provider's defaults; where the provider has none, or a
    server of one's own stands for it, the model that was chosen plays them too. Servers may have moved: a flag says so,
    and for those without a flag the environment (``SPCA_PLANNER_MODEL`` and others count for a new run alone).

    Args:
        kind: what goes on, as its user knows it; an evaluation keeps its models.

    Raises:
        ResumeError: a model or an effort is not that of an evaluation.
        SettingsError: a model or an address cannot be meant; names the flag.
    """
    said = _list_roles(options)
    known = recorded or ModelSettings()

    urls = {prefix: environ.get(name) or known.servers[prefix].url for prefix, name in VARIABLES.items()}
    openai_url = options.where.base_url or known.servers["openai"].url
    urls["openai"] = openai_url or urls["openai"] or None

    if recorded is None:
        refs = _choose_models(said, urls, environ)
    else:
        refs = [_resume_model(each, ref, kind) for each, ref in zip(said, known.refs, strict=True)]
    planner, planner_small, coder = (_make_absolute(ref, cwd) for ref in refs)

    named = {name: server for name, server in known.servers.items() if server.is_named}
    named |= parse_servers(options.where.servers, environ.get(SERVERS_VARIABLE, ""))
    servers = {prefix: Server(url) for prefix, url in urls.items()}
    servers |= {ref.prefix: named[ref.prefix] for ref in refs if ref.prefix in named}

    model_table = known.model_table
    if options.where.model_table:
        model_table = str(cwd / options.where.model_table)

    caps = options.caps
    models = ModelSettings(
        planner,
        planner_small,
        coder,
        servers,
        model_table=model_table,
        max_cost=known.max_cost if caps.max_cost is None else caps.max_cost,
        max_calls=caps.max_calls or known.max_calls,
        max_tokens=caps.max_tokens or known.max_tokens,
        max_output_tokens=options.max_output_tokens or known.max_output_tokens,
        timeout=options.timeout or known.timeout,
        preflight=not options.no_preflight,
        cache=options.cache,
    )
    _check_models(models)
    return models


def _choose_models(
    said: Iterable[_RoleChoice], urls: Mapping[str, str | None], environ: Mapping[str, str]
) -> list[ModelRef]:
    """Return the models of a new run; roles without one take defaults."""
    chosen: dict[str, ModelRef] = {}
    for each in said:
        text = each.model or environ.get(each.model_variable)
        if text:
            chosen[each.role] = _add_effort(each, ModelRef.parse(text), environ)

    defaults = choose_defaults(chosen.get("planner"), urls, environ)
    for each, default in zip(said, defaults, strict=True):
        if each.role not in chosen:
            chosen[each.role] = _add_effort(each, default, environ)
    return [chosen[each.role] for each in said]


def _add_effort(said: _RoleChoice, ref: ModelRef, environ: Mapping[str, str]) -> ModelRef:
    """Return the model of a role with the effort of its flag, else of its variable.

    A flag goes before what a variable says. A variable says nothing of a model without efforts that is not its own.

    Raises:
        SettingsError: see :meth:`ModelRef.set_effort`.
    """
    is_given = bool(said.model)
    is_set = not is_given and bool(environ.get(said.model_variable))
    if said.effort:
        base = ref if is_given else ref.drop_effort()
        return base.set_effort(said.effort, said.effort_flag)

    variable = f"SPCA_{said.role.upper()}_EFFORT"
    word = environ.get(variable)
    is_settled = bool(is_given and ref.effort) or (ref.runs_in_process and not is_set)
    if not word or is_settled:
        return ref
    base = ref if is_given or is_set else ref.drop_effort()
    return base.set_effort(word, variable)


def _resume_model(said: _RoleChoice, known: ModelRef, kind: str) -> ModelRef:
    """Return the model with which a role goes on."""
    ref = ModelRef.parse(said.model) if said.model else known
    if said.effort:
        base = ref if said.model else ref.drop_effort()
        ref = base.set_effort(said.effort, said.effort_flag)

    if ref != known and kind != "run":
        flag = said.effort_flag if said.effort else said.flag
        value = said.effort or ref
        raise ResumeError(f"{flag} {value} contradicts the {kind}, which has {known}: leave {flag} out")
    return ref


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
        said = f"--{role.replace('_', '-')}-model {ref}"
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


def _check_settings(settings: Settings) -> None:
    """Refuse settings that exclude one another.

    Raises:
        SettingsError: names the flags.
    """
    models = settings.models
    if settings.start_category and settings.only:
        raise SettingsError("--start-category and --only exclude each other: give one of them")
    if settings.keep_pddl and not settings.reuse:
        raise SettingsError("--keep-pddl and --no-reuse exclude each other: give one of them")
    if settings.bare_prompt and models.embedded == models.refs:
        raise SettingsError(
            f"--bare-prompt: {models.planner} does not read prompts: give other models, "
            "with --planner-model and --coder-model, or leave it out"
        )
    if settings.rename_words is not None and models.embedded:
        raise SettingsError(
            f"--rename-words: {models.embedded[0]} reads the true words only: give other models, "
            "with --planner-model and --coder-model, or leave it out"
        )
    if settings.unsafe_no_sandbox and os.environ.get(UNSAFE_VARIABLE) != "1":
        raise SettingsError(
            "--unsafe-no-sandbox lets generated code do whatever you can do: "
            f"confirm it with {UNSAFE_VARIABLE}=1 in the environment, or leave it out"
        )
    if settings.render and not {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"} & os.environ.keys():
        raise SettingsError("--render opens a window, but there is no display: leave it out or set DISPLAY")
