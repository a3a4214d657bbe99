"""The paths that users import, name by name, as literal data: code may move behind them, they stay."""

from __future__ import annotations

import importlib

import pytest

PUBLIC = {
    "gridworld": """
        ACTION_NAMES AbstractGridBackend Action BlockSpec CustomMiniGridEnv DependencyChain DependencyStep Distractor
        DoorSpec EpisodeResult GateSpec GoalSpec GridRunner GridState GridworldError HazardSpec KeySpec MazeLayout
        MechanismSet MiniGridBackend MultiGridBackend Observation Position Rules SwitchSpec TaskError TaskParser
        TaskSpecification TeleporterSpec register
    """,
    "gridworld.task_spec": """
        BlockSpec Color DependencyChain DependencyStep Distractor DoorSpec DoorState GateSpec GateState GoalSpec
        GoalType HazardSpec HazardType KeySpec MazeLayout MechanismSet Observability Position Rules SwitchSpec
        SwitchState SwitchType TaskSpecification TeleporterSpec
    """,
    "gridworld.task_parser": """
        TaskParser
    """,
    "gridworld.custom_env": """
        CustomMiniGridEnv as_task check_rendering
    """,
    "gridworld.actions": """
        ACTION_NAMES Action as_action
    """,
    "gridworld.registration": """
        ANY_TASK register shipped_ids
    """,
    "gridworld.library": """
        BENCHMARKS TASKS benchmark_dir name_of resolve task_files tier_dir tiers
    """,
    "gridworld.errors": """
        ActionError BackendError EvaluationError GenerationError GridworldError MissingPartError ModelError
        ModelUnavailableError SearchLimitError TaskError TaskWarning missing_part
    """,
    "gridworld.backends": """
        AbstractGridBackend BACKENDS GridState MiniGridBackend MultiGridBackend get_backend
    """,
    "gridworld.backends.base": """
        AbstractGridBackend GridState check_render_mode
    """,
    "gridworld.backends.minigrid_backend": """
        MiniGridBackend
    """,
    "gridworld.backends.multigrid_backend": """
        ACTION_TRANSLATION MultiGridBackend
    """,
    "gridworld.runner.episode_result": """
        EpisodeResult Trajectory
    """,
    "gridworld.runner.grid_runner": """
        EpisodeResult GridRunner PolicyFn Trajectory random_policy
    """,
    "gridworld.adapters.ollama_vlm_adapter": """
        OllamaVLMAdapter
    """,
    "gridworld.adapters.lmstudio_vlm_adapter": """
        LMStudioVLMAdapter
    """,
    "gridworld.evaluation.cli": """
        build_app main
    """,
    "gridworld.evaluation.harness": """
        EvaluationHarness
    """,
    "gridworld.evaluation.model_interface": """
        ModelInput ModelInterface ModelOutput
    """,
    "gridworld.evaluation.metrics": """
        BenchmarkEvaluationResult EvaluationResult TaskBenchmarkResult TierMetrics available_points
    """,
    "adapters.ollama_vlm_adapter": """
        OllamaVLMAdapter
    """,
    "adapters.lmstudio_vlm_adapter": """
        LMStudioVLMAdapter
    """,
    "model_interface": """
        BFSModelInterface FileBasedModelInterface GreedyModelInterface ModelInput ModelInterface ModelOutput
        RandomModelInterface
    """,
    "evaluation_harness": """
        BenchmarkEvaluationResult EvaluationHarness EvaluationResult TaskBenchmarkResult TierMetrics
    """,
}


@pytest.mark.parametrize("module", PUBLIC)
def test_every_public_name_is_found_where_it_was(module: str) -> None:
    found = importlib.import_module(module)
    assert not [name for name in PUBLIC[module].split() if not hasattr(found, name)]
