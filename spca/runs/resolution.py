"""Resolve the settings of a run.

A setting is taken from its flag; else from its environment variable; else from the record of the run that is resumed;
else from its default.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from spca.bodies.recorded import require_same_body
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
from spca.plugins.loaded import require_plugins
from spca.plugins.registry import MINIGRID, find_world
from spca.runs.curriculum import read_world
from spca.runs.default_models import choose_defaults
from spca.runs.options import UNSAFE_VARIABLE, ModelOptions, RunOptions
from spca.runs.recording.folder import Begun, RunFolder
from spca.runs.settings import ROLES, ModelSettings, Settings

_EDITOR_MODEL: Final = "human/editor"
_PATH_PREFIXES: Final = ("replay", "llamacpp", "human")
"""Prefixes of models whose names are paths of files or folders."""


def find_run(options: RunOptions, *, asks_models: bool = True) -> tuple[Settings, Begun | None]:
    """Return the settings of the run that the options describe, and the earlier run to resume.

    The earlier run is None if the options describe a new run.

    Args:
        asks_models: whether models will be asked, so that they have to know the world.

    Raises:
        UserError: options exclude one another, or contradict the earlier run.
    """
    begun: Begun | None = None
    recorded: Settings | None = None
    key_variables: tuple[str, ...] = ()
    if options.kept.resume is not None:
        begun = RunFolder.load_begun(find_runs(options.kept.runs), options.kept.resume)
        require_plugins(begun.info, f"run {begun.folder.run_id}", exactly=True)
        runs = str(begun.folder.path.parent)
        recorded = replace(Settings.from_record(begun.info["settings"]), runs=runs)
        key_variables = recorded.models.key_variables
    else:
        options = take_world_of_curriculum(options)
    environ = load_environment((*options.models.where.servers, *key_variables))
    settings = resolve_settings(options, environ, recorded)
    if begun is not None:
        require_same_body(begun.info, settings.body, f"run {begun.folder.run_id}")
    if asks_models:
        require_able_models(settings)
    return settings, begun


def take_world_of_curriculum(options: RunOptions) -> RunOptions:
    """Return the options of a new run with the world that its curriculum names, unless ``--world`` names one.

    Raises:
        UserError: the curriculum cannot be read.
    """
    selection = options.selection
    if selection.world is not None:
        return options
    world = read_world(Path.cwd() / (selection.curriculum or applications() / "merged_curriculum2.json"))
    return replace(options, selection=replace(selection, world=world))


def resolve_settings(options: RunOptions, environ: Mapping[str, str], recorded: Settings | None = None) -> Settings:
    """Return the settings of a new run, or the recorded settings of a resumed run with the permitted changes.

    Args:
        recorded: settings of the run to resume, with ``runs`` set to the folder where the run lies now; None for a new
            run.

    Raises:
        ResumeError: an option contradicts the recorded settings.
        SettingsError: an option has an invalid value, or options exclude one another.
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


def require_able_models(settings: Settings) -> None:
    """Raise an error if an embedded model would have to play a world that it does not know.

    Raises:
        SettingsError: the message names the flags that choose other models.
    """
    embedded = settings.models.embedded
    if embedded and find_world(settings.world) is not None:
        raise SettingsError(
            f"--world {settings.world}: {embedded[0]} knows the world {MINIGRID} only: give other models, "
            "with --planner-model and --coder-model"
        )


def _make_settings(options: RunOptions, environ: Mapping[str, str], cwd: Path) -> Settings:
    """Return the settings of a new run; the fields for models, display and ``resume`` keep their defaults."""
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
        world=selection.world or MINIGRID,
        prompts=str(cwd / options.models.prompts) if options.models.prompts else None,
    )


class Claim(NamedTuple):
    """An option of a resumed run: its value on the command line (``said``) and its recorded value.

    ``said`` is None if the option is not given.
    """

    flag: str
    said: object
    recorded: object


def require_same(claims: Iterable[Claim], kind: str) -> None:
    """Raise an error if an option for a resumed run or evaluation differs from the recorded value.

    Args:
        claims: the options with their recorded values.
        kind: what is resumed, for the error message: "run" or "evaluation".

    Raises:
        ResumeError: an option differs from its recorded value; the message names the option.
    """
    for flag, said, recorded in claims:
        if said is None or said == recorded:
            continue
        option = flag if isinstance(said, bool) else f"{flag} {_show_value(said)}"

        was_not_given = recorded in (None, ()) or isinstance(recorded, bool)
        has = "was begun without" if was_not_given else f"has {_show_value(recorded)}"
        raise ResumeError(f"{option} contradicts the {kind}, which {has}: leave {flag} out")


def _show_value(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _normalise_path(said: str | None, recorded: str, cwd: Path) -> str | None:
    """Return ``recorded`` if ``said``, taken relative to ``cwd``, is the same path; else ``said``."""
    is_same_path = said and str(cwd / said) == recorded
    return recorded if is_same_path else said


def _list_claims(options: RunOptions, recorded: Settings, cwd: Path) -> Iterator[Claim]:
    """Yield a claim for each option whose setting cannot change when a run is resumed.

    ``FLAG or None`` turns False into None, because a flag that is not given claims nothing.
    """
    selection = options.selection
    curriculum = _normalise_path(selection.curriculum, recorded.curriculum, cwd)
    yield Claim("--start-category", selection.start_category, recorded.start_category)
    yield Claim("--only", selection.only or None, recorded.only)
    yield Claim("--seed", selection.seed, recorded.seed)
    yield Claim("--upstream-rules", selection.upstream_rules or None, recorded.upstream_rules)
    yield Claim("--curriculum", curriculum, recorded.curriculum)
    yield Claim("--world", selection.world, recorded.world)
    yield Claim("--prompts", _normalise_path(options.models.prompts, recorded.prompts or "", cwd), recorded.prompts)

    kept = options.kept
    workspace = _normalise_path(kept.workspace, recorded.workspace, cwd)
    yield Claim("--keep-agent", kept.keep_agent or None, recorded.keep_agent)
    yield Claim("--keep-pddl", kept.keep_pddl or None, recorded.keep_pddl)
    yield Claim("--workspace", workspace, recorded.workspace)

    ablations = options.ablations
    compile_flag = "--no-compile" if ablations.compile is False else "--compile"
    yield Claim(compile_flag, ablations.compile, recorded.compile)
    yield Claim("--no-reuse", ablations.no_reuse or None, not recorded.reuse)
    yield Claim("--no-regression-check", ablations.no_regression_check or None, not recorded.regression_check)
    yield Claim("--no-curriculum", ablations.no_curriculum or None, not recorded.carry_over)
    yield Claim("--bare-prompt", ablations.bare_prompt or None, recorded.bare_prompt)
    yield Claim("--rename-words", ablations.rename_words, recorded.rename_words)

    solver = options.solver
    yield Claim("--engine", solver.engine, recorded.engine)
    yield Claim("--unsafe-no-sandbox", solver.unsafe_no_sandbox or None, recorded.unsafe_no_sandbox)


# Models --------------------------------------------------------------------------------------------------------------


class _RoleChoice(NamedTuple):
    """The model and the effort that a user chooses for a role on the command line.

    ``model`` and ``effort`` are None if they are not given.
    """

    role: str
    model: str | None
    effort: str | None

    @property
    def flag(self) -> str:
        """The flag that names the model of the role."""
        return f"--{self.role.replace('_', '-')}-model"

    @property
    def model_variable(self) -> str:
        """The environment variable that names the model of the role."""
        return f"SPCA_{self.role.upper()}_MODEL"

    @property
    def effort_flag(self) -> str:
        """The flag that names the effort of the role's model."""
        return f"--{self.role.replace('_', '-')}-effort"


def _list_role_choices(options: ModelOptions) -> tuple[_RoleChoice, ...]:
    """Return what the options choose for each role, in the order of :data:`ROLES`."""
    planner = _RoleChoice("planner", options.planner_model, options.planner_effort)
    planner_small = _RoleChoice("planner_small", options.planner_small_model, options.planner_small_effort)
    coder = _RoleChoice("coder", options.coder_model, options.coder_effort)
    return planner, planner_small, coder


def resolve_models(
    options: ModelOptions,
    environ: Mapping[str, str],
    cwd: Path,
    recorded: ModelSettings | None = None,
    kind: str = "run",
) -> ModelSettings:
    """Return the models of a new run, or the recorded models of a resumed run with the changes of the options.

    Roles without a chosen model take the defaults of the large planner's provider; see
    :func:`spca.runs.default_models.choose_defaults`. Variables that name models, such as ``SPCA_PLANNER_MODEL``, count
    for new runs only.

    Addresses of servers may change when a run is resumed. A flag has precedence over an environment variable, and a
    variable over the record. There is one exception: the recorded address of openai has precedence over
    ``OPENAI_BASE_URL``.

    Args:
        recorded: models of the run or evaluation to resume; None for a new one.
        kind: "run", or "evaluation", whose models cannot change.

    Raises:
        ResumeError: a model or an effort differs from that of the evaluation to resume.
        SettingsError: a model or an address is invalid; the message names the flag.
    """
    choices = _list_role_choices(options)
    known = recorded or ModelSettings()

    urls: dict[str, str | None] = {}
    for prefix, variable in VARIABLES.items():
        urls[prefix] = environ.get(variable) or known.servers[prefix].url
    openai_url = options.where.base_url or known.servers["openai"].url
    urls["openai"] = openai_url or urls["openai"] or None

    if recorded is None:
        refs = _choose_models(choices, urls, environ)
    else:
        refs = [_resume_model(choice, ref, kind) for choice, ref in zip(choices, known.refs, strict=True)]
    planner, planner_small, coder = (_make_absolute(ref, cwd) for ref in refs)

    user_servers = {name: server for name, server in known.servers.items() if server.is_named}
    user_servers |= parse_servers(options.where.servers, environ.get(SERVERS_VARIABLE, ""))
    servers = {prefix: Server(url) for prefix, url in urls.items()}
    servers |= {ref.prefix: user_servers[ref.prefix] for ref in refs if ref.prefix in user_servers}

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
    choices: Sequence[_RoleChoice], urls: Mapping[str, str | None], environ: Mapping[str, str]
) -> list[ModelRef]:
    """Return the models of a new run, in the order of ``choices``; roles without a chosen model take defaults."""
    chosen: dict[str, ModelRef] = {}
    for choice in choices:
        text = choice.model or environ.get(choice.model_variable)
        if text:
            chosen[choice.role] = _add_effort(choice, ModelRef.parse(text), environ)

    defaults = choose_defaults(chosen.get("planner"), urls, environ)
    for choice, default in zip(choices, defaults, strict=True):
        if choice.role not in chosen:
            chosen[choice.role] = _add_effort(choice, default, environ)
    return [chosen[choice.role] for choice in choices]


def _add_effort(choice: _RoleChoice, ref: ModelRef, environ: Mapping[str, str]) -> ModelRef:
    """Return ``ref``, the model of a role, with the effort from the flag, else from the environment variable.

    An effort from a flag (``--planner-effort`` or ``--planner-model MODEL@EFFORT``) has precedence over the variable's
    effort. For a model that runs in this process, the variable's effort counts only if a variable names the model.

    Raises:
        SettingsError: see :meth:`ModelRef.set_effort`.
    """
    model_from_flag = bool(choice.model)
    model_from_variable = not model_from_flag and bool(environ.get(choice.model_variable))
    if choice.effort:
        base = ref if model_from_flag else ref.drop_effort()
        return base.set_effort(choice.effort, choice.effort_flag)

    variable = f"SPCA_{choice.role.upper()}_EFFORT"
    effort = environ.get(variable)
    flag_sets_effort = model_from_flag and bool(ref.effort)
    has_no_efforts = ref.runs_in_process and not model_from_variable
    if not effort or flag_sets_effort or has_no_efforts:
        return ref
    is_default_model = not model_from_flag and not model_from_variable
    base = ref.drop_effort() if is_default_model else ref
    return base.set_effort(effort, variable)


def _resume_model(choice: _RoleChoice, known: ModelRef, kind: str) -> ModelRef:
    """Return the model of a role in a resumed run or evaluation.

    Args:
        known: the recorded model of the role.
        kind: "run", or "evaluation", whose models cannot change.

    Raises:
        ResumeError: the model or the effort of an evaluation would change.
    """
    ref = ModelRef.parse(choice.model) if choice.model else known
    if choice.effort:
        base = ref if choice.model else ref.drop_effort()
        ref = base.set_effort(choice.effort, choice.effort_flag)

    if ref != known and kind != "run":
        flag = choice.effort_flag if choice.effort else choice.flag
        value = choice.effort or ref
        raise ResumeError(f"{flag} {value} contradicts the {kind}, which has {known}: leave {flag} out")
    return ref


def _make_absolute(ref: ModelRef, cwd: Path) -> ModelRef:
    """Return the model ``ref``; if its name is a path, the path is made absolute.

    This is necessary because a run may be resumed in another folder. A relative path starts at ``cwd``. If ``cwd``
    lacks the recorded run of a ``replay/`` model, but the run ships with the program, the shipped run is taken.
    """
    is_path = ref.prefix in _PATH_PREFIXES and bool(ref.name) and str(ref) != _EDITOR_MODEL
    if not is_path:
        return ref
    here = cwd / ref.name
    shipped = applications() / ref.name
    is_shipped = ref.prefix == "replay" and os.path.exists(shipped) and not os.path.lexists(here)
    return replace(ref, name=str(shipped if is_shipped else here))


def _check_models(models: ModelSettings) -> None:
    """Raise an error on invalid models or addresses.

    Raises:
        SettingsError: a model or an address is invalid; the message names the flag.
    """
    for role, embedded_name, ref in zip(ROLES, ("planner", "planner", "coder"), models.refs, strict=True):
        option = f"--{role.replace('_', '-')}-model {ref}"
        _, at, word = ref.name.rpartition("@")
        names_effort = bool(at) and word in EFFORTS
        if names_effort and ref.runs_in_process and not Path(ref.name).exists():
            raise SettingsError(f"{option}: {ref.prefix}/... reasons as it does: leave @{word} out")
        if ref.is_embedded and ref.name.rpartition("/")[2] != embedded_name:
            raise SettingsError(f"{option}: the embedded model for this is {ref.prefix}/{embedded_name}")
        is_own = ref.prefix in VARIABLES and is_providers_own(ref.prefix, models.servers[ref.prefix].url)
        if at and not ref.effort and is_own:
            raise SettingsError(f"{option}: @{word} is no effort: it is one of {', '.join(EFFORTS)}")
    for prefix, variable in VARIABLES.items():
        option = "--base-url (OPENAI_BASE_URL)" if prefix == "openai" else variable
        url = models.servers[prefix].url
        if url is not None and (fault := find_address_fault(option, url, is_host=prefix == "ollama")):
            raise SettingsError(fault)


def _check_settings(settings: Settings) -> None:
    """Raise an error on settings that exclude one another or that this machine does not permit.

    Raises:
        SettingsError: settings are invalid; the message names the flags.
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
    if settings.prompts and models.embedded == models.refs:
        raise SettingsError(
            f"--prompts: {models.planner} does not read prompts: give other models, "
            "with --planner-model and --coder-model, or leave it out"
        )
    settings.wording.check()
    _check_world(settings)
    if settings.unsafe_no_sandbox and os.environ.get(UNSAFE_VARIABLE) != "1":
        raise SettingsError(
            "--unsafe-no-sandbox lets generated code do whatever you can do: "
            f"confirm it with {UNSAFE_VARIABLE}=1 in the environment, or leave it out"
        )
    if settings.render and not {"DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"} & os.environ.keys():
        raise SettingsError("--render opens a window, but there is no display: leave it out or set DISPLAY")


def _check_world(settings: Settings) -> None:
    """Raise an error if a world is not registered, or lacks what a flag asks for.

    Raises:
        SettingsError: the message names the flag.
    """
    if find_world(settings.world) is None:
        return
    flags = {"--upstream-rules": settings.upstream_rules, "--render": settings.render}
    for flag, is_given in flags.items():
        if is_given:
            raise SettingsError(f"{flag}: the world {settings.world} has no such thing: leave it out")
    if settings.rename_words is not None and settings.body.vocabulary is None:
        raise SettingsError(f"--rename-words: the body {settings.body.name} names no words to rename: leave it out")
