"""Options of a run on the command line. An option that is not given is None, False or ().

``--help`` shows the docstrings of the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

from spca.common.options.values import (
    FILE,
    FOLDER,
    MODEL,
    NAME,
    UNLIMITED,
    WORD,
    amount,
    name_value,
    option_group,
    whole_number,
)

DEFAULT_MAX_COST: Final = 5.0
"""USD that a run may cost if no cap is given."""
UNSAFE_VARIABLE: Final = "SPCA_UNSAFE_NO_SANDBOX"
"""Environment variable that confirms ``--unsafe-no-sandbox``."""
WITHOUT_COMPILE: Final = Parameter(negative="--no-compile")
SERVER: Final = Parameter(name="--server", metavar="NAME=URL[,KEY_VARIABLE]")
USD: Final = name_value("USD")
SEED: Final = whole_number(0, UNLIMITED)
CAP: Final = whole_number(1, UNLIMITED)

_SELECTION: Final = option_group("What to run")
_KEPT: Final = option_group("What to keep")
_ABLATIONS: Final = option_group("Ablations")
_MODELS: Final = option_group("Models and solver")
_CAPS: Final = option_group("What a run may spend")
_DISPLAY: Final = option_group("Display")


@Parameter(name="*", group=_SELECTION)
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """Which levels are learned.

    Attributes:
        start_category: begin with this category (case-insensitive)
        only: only these categories (A,B), or levels or environment ids that match (GLOB); a second one narrows the
            first
        seed: seed of every environment (default 1)
        upstream_rules: judge as minigrid does, its known defects included
        curriculum: curriculum to learn (default merged_curriculum2.json)
        world: world that plays the levels (default minigrid; see the command worlds)
    """

    start_category: Annotated[str | None, NAME] = None
    only: Annotated[tuple[str, ...], name_value("NAMES")] = ()
    seed: Annotated[int | None, SEED] = None
    upstream_rules: bool = False
    curriculum: Annotated[str | None, FILE] = None
    world: Annotated[str | None, NAME] = None


@Parameter(name="*", group=_KEPT)
@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOptions:
    """What a run begins with, and the folders of workspace and runs.

    Attributes:
        keep_agent: continue from the workspace's agent.py
        keep_pddl: trust the workspace's domain.pddl and problem.pddl
        resume: go on with a run that was interrupted: its id, or how it begins
        workspace: folder of the growing agent (default workspace)
        runs: where run folders lie (default runs)
    """

    keep_agent: bool = False
    keep_pddl: bool = False
    resume: Annotated[str | None, name_value("RUN_ID")] = None
    workspace: Annotated[str | None, FOLDER] = None
    runs: Annotated[str | None, FOLDER] = None


@Parameter(name="*", group=_ABLATIONS)
@dataclass(frozen=True, slots=True, kw_only=True)
class AblationOptions:
    """Which parts of learning are switched off.

    Attributes:
        compile: keep problem writers and try them before a model is asked (default)
        no_reuse: show no PDDL that solved a level before
        no_regression_check: keep rewritten methods without running solved levels again
        no_curriculum: begin each category with the initial agent and no writers
        bare_prompt: tell models formats and primitives only, nothing of how such worlds work
        rename_words: replace the words for colours and kinds by invented ones
    """

    compile: Annotated[bool | None, WITHOUT_COMPILE] = None
    no_reuse: bool = False
    no_regression_check: bool = False
    no_curriculum: bool = False
    bare_prompt: bool = False
    rename_words: Annotated[int | None, SEED, name_value("SEED")] = None


@Parameter(name="*", group=_CAPS)
@dataclass(frozen=True, slots=True, kw_only=True)
class CapOptions:
    """What a run may spend.

    Attributes:
        max_cost: cap on the cost of a run (default 5, where prices are known)
        max_calls: cap on the requests to models of a run
        max_tokens: cap on a run's input and output tokens
    """

    max_cost: Annotated[float | None, amount("USD", zero=True), USD] = None
    max_calls: Annotated[int | None, CAP] = None
    max_tokens: Annotated[int | None, CAP] = None


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Servers where models are asked, and a table of their prices.

    Attributes:
        base_url: OpenAI-compatible server of openai/... (OPENAI_BASE_URL)
        servers: a server of yours: NAME/MODEL is asked there (may be repeated; SPCA_SERVERS)
        model_table: context sizes and prices of models (docs/models.md)
    """

    base_url: Annotated[str | None, name_value("URL")] = None
    servers: Annotated[tuple[str, ...], SERVER] = ()
    model_table: Annotated[str | None, FILE] = None


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Models of the roles, and how they are asked.

    Attributes:
        planner_model: plans, replans and repairs, such as openai/gpt-6.1-sol
        planner_small_model: adapts PDDL that is already trusted
        coder_model: writes actions
        planner_effort: how much it reasons, such as high: the same as @WORD after --planner-model
        planner_small_effort: how much it reasons, such as high: the same as @WORD after --planner-small-model
        coder_effort: how much it reasons, such as high: the same as @WORD after --coder-model
        no_preflight: do not look up the models at their providers first
        cache: serve calls that were made before, in any run, from files
        timeout: seconds to wait for an answer (default 300)
        max_output_tokens: cap on each answer, reasoning included
        prompts: folder of prompt templates that replace ours of the same names (docs/prompts.md)
    """

    planner_model: Annotated[str | None, MODEL] = None
    planner_small_model: Annotated[str | None, MODEL] = None
    coder_model: Annotated[str | None, MODEL] = None
    planner_effort: Annotated[str | None, WORD] = None
    planner_small_effort: Annotated[str | None, WORD] = None
    coder_effort: Annotated[str | None, WORD] = None
    where: ServerOptions = ServerOptions()
    no_preflight: bool = False
    cache: bool = False
    timeout: Annotated[float | None, amount("seconds"), name_value("S")] = None
    max_output_tokens: Annotated[int | None, CAP] = None
    prompts: Annotated[str | None, FOLDER] = None
    caps: CapOptions = CapOptions()


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class SolverOptions:
    """The planning engine, and whether generated code runs in the sandbox.

    Attributes:
        engine: planning engine (default: by kind of problem)
        unsafe_no_sandbox: run generated code without the sandbox; needs SPCA_UNSAFE_NO_SANDBOX=1 in the environment
            as well
    """

    engine: Annotated[str | None, NAME] = None
    unsafe_no_sandbox: bool = False


@Parameter(name="*", group=_DISPLAY)
@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayOptions:
    """How a run is shown while it goes on.

    Attributes:
        render: open a window that shows the episode
        quiet: print nothing but errors and the final table
    """

    render: bool = False
    quiet: bool = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """All options of a run."""

    selection: SelectionOptions = SelectionOptions()
    kept: KeptOptions = KeptOptions()
    ablations: AblationOptions = AblationOptions()
    models: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()
    display: DisplayOptions = DisplayOptions()
