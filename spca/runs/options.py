"""What a user says of a run on the command line; None, False or () where nothing is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from cyclopts import Parameter

from spca.common.options.values import amount, option_group, whole_number

DEFAULT_MAX_COST: Final = 5.0
"""USD that a run may cost where no cap was given."""
DEFAULT_TIMEOUT_S: Final = 300.0
UNSAFE_VARIABLE: Final = "SPCA_UNSAFE_NO_SANDBOX"
"""Environment variable that confirms ``--unsafe-no-sandbox``."""
SERVERS_VARIABLE: Final = "SPCA_SERVERS"
"""Environment variable that lists servers of the user's own: ``NAME=URL|KEY_VARIABLE``, separated by commas."""

_SELECTION: Final = option_group("What to run")
_KEPT: Final = option_group("What to keep")
_ABLATIONS: Final = option_group("Ablations")
_MODELS: Final = option_group("Models and solver")
_CAPS: Final = option_group("What a run may spend")
_DISPLAY: Final = option_group("Display")

_SAME_AS_WORD: Final = "how much it reasons, such as high: the same as @WORD after the model"


@Parameter(name="*", group=_SELECTION)
@dataclass(frozen=True, slots=True, kw_only=True)
class SelectionOptions:
    """Which levels are learned."""

    start_category: Annotated[
        str | None, Parameter(metavar="NAME", help="begin with this category (case-insensitive)")
    ] = None
    only: Annotated[
        tuple[str, ...],
        Parameter(
            metavar="NAMES",
            help="only these categories (A,B), or levels or environment ids that match (GLOB); "
            "a second one narrows the first",
        ),
    ] = ()
    seed: Annotated[
        int | None, whole_number(0), Parameter(metavar="N", help="seed of every environment (default 1)")
    ] = None
    upstream_rules: Annotated[bool, Parameter(help="judge as minigrid does, its known defects included")] = False
    curriculum: Annotated[
        str | None, Parameter(metavar="FILE", help="curriculum to learn (default merged_curriculum2.json)")
    ] = None


@Parameter(name="*", group=_KEPT)
@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOptions:
    """What a run begins with, and where it lies."""

    keep_agent: Annotated[bool, Parameter(help="continue from the workspace's agent.py")] = False
    keep_pddl: Annotated[bool, Parameter(help="trust the workspace's domain.pddl and problem.pddl")] = False
    resume: Annotated[
        str | None,
        Parameter(metavar="RUN_ID", help="go on with a run that was interrupted: its id, or how it begins"),
    ] = None
    workspace: Annotated[
        str | None, Parameter(metavar="DIR", help="folder of the growing agent (default workspace)")
    ] = None
    runs: Annotated[str | None, Parameter(metavar="DIR", help="where run folders lie (default runs)")] = None


@Parameter(name="*", group=_ABLATIONS)
@dataclass(frozen=True, slots=True, kw_only=True)
class AblationOptions:
    """Which parts of learning are taken away."""

    compile: Annotated[
        bool | None,
        Parameter(negative="--no-compile", help="keep problem writers and try them before a model is asked (default)"),
    ] = None
    no_reuse: Annotated[bool, Parameter(help="show no PDDL that solved a level before")] = False
    no_regression_check: Annotated[
        bool, Parameter(help="keep rewritten methods without running solved levels again")
    ] = False
    no_curriculum: Annotated[bool, Parameter(help="begin each category with the initial agent and no writers")] = False
    bare_prompt: Annotated[
        bool, Parameter(help="tell models formats and primitives only, nothing of how such worlds work")
    ] = False
    rename_words: Annotated[
        int | None,
        whole_number(0),
        Parameter(metavar="SEED", help="replace the words for colours and kinds by invented ones"),
    ] = None


@Parameter(name="*", group=_CAPS)
@dataclass(frozen=True, slots=True, kw_only=True)
class CapOptions:
    """What a run may spend."""

    max_cost: Annotated[
        float | None,
        amount("USD", zero=True),
        Parameter(
            metavar="USD",
            help=f"cap on the cost of a run (default {DEFAULT_MAX_COST:g}, where prices are known)",
        ),
    ] = None
    max_calls: Annotated[
        int | None, whole_number(1), Parameter(metavar="N", help="cap on the requests to models of a run")
    ] = None
    max_tokens: Annotated[
        int | None, whole_number(1), Parameter(metavar="N", help="cap on a run's input and output tokens")
    ] = None


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """Where models are asked, and what is known of them."""

    base_url: Annotated[
        str | None, Parameter(metavar="URL", help="OpenAI-compatible server of openai/... (OPENAI_BASE_URL)")
    ] = None
    servers: Annotated[
        tuple[str, ...],
        Parameter(
            name="--server",
            metavar="NAME=URL[,KEY_VARIABLE]",
            help=f"a server of yours: NAME/MODEL is asked there (may be repeated; {SERVERS_VARIABLE})",
        ),
    ] = ()
    model_table: Annotated[
        str | None, Parameter(metavar="FILE", help="context sizes and prices of models (docs/models.md)")
    ] = None


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOptions:
    """Which models are asked, and how."""

    planner_model: Annotated[
        str | None, Parameter(metavar="MODEL", help="plans, replans and repairs, such as openai/gpt-6.1-sol")
    ] = None
    planner_small_model: Annotated[
        str | None, Parameter(metavar="MODEL", help="adapts PDDL that is already trusted")
    ] = None
    coder_model: Annotated[str | None, Parameter(metavar="MODEL", help="writes actions")] = None
    planner_effort: Annotated[str | None, Parameter(metavar="WORD", help=_SAME_AS_WORD)] = None
    planner_small_effort: Annotated[str | None, Parameter(metavar="WORD", help=_SAME_AS_WORD)] = None
    coder_effort: Annotated[str | None, Parameter(metavar="WORD", help=_SAME_AS_WORD)] = None
    where: ServerOptions = ServerOptions()
    no_preflight: Annotated[bool, Parameter(help="do not look up the models at their providers first")] = False
    cache: Annotated[bool, Parameter(help="serve calls that were made before, in any run, from files")] = False
    timeout: Annotated[
        float | None,
        amount("seconds"),
        Parameter(metavar="S", help=f"seconds to wait for an answer (default {DEFAULT_TIMEOUT_S:g})"),
    ] = None
    max_output_tokens: Annotated[
        int | None, whole_number(1), Parameter(metavar="N", help="cap on each answer, reasoning included")
    ] = None
    caps: CapOptions = CapOptions()

    def model(self, role: str) -> str | None:
        """Return the model of a role: planner, planner_small or coder."""
        models = {
            "planner": self.planner_model,
            "planner_small": self.planner_small_model,
            "coder": self.coder_model,
        }
        return models[role]

    def effort(self, role: str) -> str | None:
        """Return the effort of a role."""
        efforts = {
            "planner": self.planner_effort,
            "planner_small": self.planner_small_effort,
            "coder": self.coder_effort,
        }
        return efforts[role]


@Parameter(name="*", group=_MODELS)
@dataclass(frozen=True, slots=True, kw_only=True)
class SolverOptions:
    """What solves plans, and where generated code runs."""

    engine: Annotated[str | None, Parameter(metavar="NAME", help="planning engine (default: by kind of problem)")] = (
        None
    )
    unsafe_no_sandbox: Annotated[
        bool,
        Parameter(help=f"run generated code without the sandbox; needs {UNSAFE_VARIABLE}=1 in the environment as well"),
    ] = False


@Parameter(name="*", group=_DISPLAY)
@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayOptions:
    """How a run is watched."""

    render: Annotated[bool, Parameter(help="open a window that shows the episode")] = False
    quiet: Annotated[bool, Parameter(help="print nothing but errors and the final table")] = False


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """What a run is told."""

    selection: SelectionOptions = SelectionOptions()
    kept: KeptOptions = KeptOptions()
    ablations: AblationOptions = AblationOptions()
    models: ModelOptions = ModelOptions()
    solver: SolverOptions = SolverOptions()
    display: DisplayOptions = DisplayOptions()
