"""The public interfaces, name by name: what users of the Multinet-v2 gridworld expect, as literal data."""

from __future__ import annotations

import abc
import dataclasses
import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
REQUIRED = "required"

FIELDS: dict[str, list[tuple[str, Any]]] = {
    "gridworld.task_spec:Position": [("x", REQUIRED), ("y", REQUIRED)],
    "gridworld.task_spec:KeySpec": [("id", REQUIRED), ("position", REQUIRED), ("color", REQUIRED)],
    "gridworld.task_spec:DoorSpec": [
        ("id", REQUIRED),
        ("position", REQUIRED),
        ("requires_key", REQUIRED),
        ("initial_state", "locked"),
    ],
    "gridworld.task_spec:SwitchSpec": [
        ("id", REQUIRED),
        ("position", REQUIRED),
        ("controls", REQUIRED),
        ("color", "yellow"),
        ("switch_type", None),
        ("initial_state", "off"),
    ],
    "gridworld.task_spec:GateSpec": [("id", REQUIRED), ("position", REQUIRED), ("initial_state", "closed")],
    "gridworld.task_spec:BlockSpec": [
        ("id", REQUIRED),
        ("position", REQUIRED),
        ("pushable", True),
        ("color", "grey"),
    ],
    "gridworld.task_spec:TeleporterSpec": [
        ("id", REQUIRED),
        ("position_a", REQUIRED),
        ("position_b", REQUIRED),
        ("bidirectional", True),
    ],
    "gridworld.task_spec:HazardSpec": [("id", REQUIRED), ("position", REQUIRED), ("hazard_type", "lava")],
    "gridworld.task_spec:MazeLayout": [
        ("dimensions", REQUIRED),
        ("walls", REQUIRED),
        ("start", REQUIRED),
        ("goal", REQUIRED),
    ],
    "gridworld.task_spec:MechanismSet": [
        (name, []) for name in ("keys", "doors", "switches", "gates", "blocks", "teleporters", "hazards")
    ],
    "gridworld.task_spec:Rules": [
        ("key_consumption", True),
        ("switch_type", "toggle"),
        ("hidden_mechanisms", []),
        ("observability", "full"),
        ("view_size", 7),
    ],
    "gridworld.task_spec:GoalSpec": [
        ("goal_type", "reach_position"),
        ("target", None),
        ("target_ids", []),
        ("target_positions", []),
        ("auxiliary_conditions", []),
    ],
    "gridworld.task_spec:TaskSpecification": [
        *((name, REQUIRED) for name in ("task_id", "seed", "difficulty_tier", "maze", "goal", "max_steps")),
    ],
    "gridworld.backends.base:GridState": [
        ("agent_position", REQUIRED),
        ("agent_direction", REQUIRED),
        ("agent_carrying", None),
        ("step_count", 0),
        ("max_steps", 100),
        ("terminated", False),
        ("truncated", False),
        ("reward", 0.0),
        ("open_doors", set()),
        ("collected_keys", set()),
        ("active_switches", set()),
        ("open_gates", set()),
        ("block_positions", {}),
        ("teleporter_cooldowns", {}),
        ("goal_reached", False),
        ("observability_mode", "full"),
        ("visible_cells", set()),
        ("explored_cells", set()),
    ],
    "gridworld.runner.grid_runner:EpisodeResult": [
        (name, REQUIRED)
        for name in (
            "task_id",
            "success",
            "total_reward",
            "steps_taken",
            "max_steps",
            "terminated",
            "truncated",
            "trajectory",
            "final_state",
            "seed",
            "mission",
        )
    ],
    "model_interface:ModelInput": [
        ("image", REQUIRED),
        ("text_prompt", REQUIRED),
        ("action_space", REQUIRED),
        ("step_number", REQUIRED),
        ("max_steps", REQUIRED),
        ("additional_context", None),
        ("prior_images", None),
    ],
    "model_interface:ModelOutput": [
        ("action", REQUIRED),
        ("confidence", None),
        ("reasoning", None),
        ("raw_output", None),
    ],
}
"""Fields with their defaults in order; more may follow if they have defaults."""

EXACT = {"gridworld.backends.base:GridState", "model_interface:ModelInput", "model_interface:ModelOutput"}

OPTIONAL_TASK_FIELDS = {
    "version": "1.0",
    "description": "",
    "dependency_chain": None,
    "distractors": None,
    "metadata": None,
}

SIGNATURES: dict[str, list[str | tuple[str, Any]]] = {
    "gridworld.task_spec:TaskSpecification.from_json": ["path"],
    "gridworld.task_spec:TaskSpecification.from_dict": ["data"],
    "gridworld.task_spec:TaskSpecification.to_dict": [],
    "gridworld.task_spec:TaskSpecification.to_json": ["path"],
    "gridworld.task_spec:TaskSpecification.validate": [],
    "gridworld.backends.base:GridState.to_dict": [],
    "gridworld.backends.base:GridState.from_dict": ["data"],
    "gridworld.backends.base:AbstractGridBackend.configure": ["task_spec"],
    "gridworld.backends.base:AbstractGridBackend.reset": [("seed", None)],
    "gridworld.backends.base:AbstractGridBackend.step": ["action"],
    "gridworld.backends.base:AbstractGridBackend.render": [],
    "gridworld.backends.base:AbstractGridBackend.get_mission_text": [],
    "gridworld.backends.base:AbstractGridBackend.get_state": [],
    "gridworld.backends.base:AbstractGridBackend.close": [],
    "gridworld.backends.minigrid_backend:MiniGridBackend": [("render_mode", "rgb_array")],
    "gridworld.backends.multigrid_backend:MultiGridBackend": [("tiling", "square"), ("render_mode", "rgb_array")],
    "gridworld.task_parser:TaskParser": [("render_mode", "rgb_array")],
    "gridworld.task_parser:TaskParser.parse": ["spec", ("seed", None)],
    "gridworld.task_parser:TaskParser.parse_file": ["path"],
    "gridworld.task_parser:TaskParser.parse_dict": ["data"],
    "gridworld.runner.grid_runner:GridRunner": [("backend", None), ("render_mode", "rgb_array")],
    "gridworld.runner.grid_runner:GridRunner.run_episode": ["task_spec", ("policy_fn", None), ("seed", None)],
    "gridworld.runner.grid_runner:GridRunner.run_batch": ["task_specs", ("policy_fn", None)],
    "gridworld.runner.grid_runner:GridRunner.collect_demonstrations": ["task_spec", "actions", ("seed", None)],
    "gridworld.runner.grid_runner:GridRunner.generate_observation_dataset": [
        "task_specs",
        ("policy_fn", None),
        ("output_dir", "observations"),
    ],
    "model_interface:ModelInterface.predict": ["input"],
    "model_interface:RandomModelInterface": [("seed", 42)],
    "model_interface:FileBasedModelInterface": ["work_dir", ("timeout", 60.0), ("poll_interval", 0.1)],
    "evaluation_harness:EvaluationHarness": [
        "model",
        ("backend", None),
        ("render_mode", "rgb_array"),
        ("history_images", 2),
        ("history_text", True),
        ("history_text_window", 3),
    ],
    "evaluation_harness:EvaluationHarness.evaluate_task": ["task_spec", ("seed", None)],
    "evaluation_harness:EvaluationHarness.evaluate_tier": ["tier", ("task_dir", "gridworld/tasks")],
    "evaluation_harness:EvaluationHarness.evaluate_all": [("task_dir", "gridworld/tasks"), ("tiers", None)],
    "evaluation_harness:EvaluationHarness.evaluate_task_dir": ["task_dir"],
    "evaluation_harness:EvaluationHarness.close": [],
    "adapters.ollama_vlm_adapter:OllamaVLMAdapter": [
        ("model", "qwen2.5vl:7b"),
        ("base_url", "http://localhost:11434"),
    ],
    "adapters.lmstudio_vlm_adapter:LMStudioVLMAdapter": [
        ("model", "google/gemma-3-4b-it"),
        ("base_url", "http://localhost:1234"),
    ],
    "gridworld.evaluation.cli:main": [("argv", None)],
    "run_eval:main": [("argv", None)],
}
"""Parameters with their defaults in order; more may follow if they have defaults."""

ALIASES = {
    "model_interface": (
        "ModelInput",
        "ModelOutput",
        "ModelInterface",
        "RandomModelInterface",
        "FileBasedModelInterface",
    ),
    "evaluation_harness": ("EvaluationHarness",),
    "adapters.ollama_vlm_adapter": ("OllamaVLMAdapter",),
    "adapters.lmstudio_vlm_adapter": ("LMStudioVLMAdapter",),
}
"""Names at the top level that are those of the package."""

MINIMAL = {
    "task_id": "t",
    "seed": 42,
    "difficulty_tier": 3,
    "maze": {"dimensions": [5, 4], "walls": [], "start": [1, 1], "goal": [3, 2]},
    "goal": {"type": "reach_position", "target": [3, 2]},
    "max_steps": 75,
}

COMMAND_LINES = (
    "--benchmark validation_10 --model random",
    "--benchmark tiers --tier 1-3 --model random",
    "--benchmark directory --task-dir path/to/json_dir --model random",
    "--benchmark tiers --tier 1-3 --model bfs --backend multigrid --tiling hex --seed 0 --output o.json"
    " --workers 2 --executor local --resume",
)


def find(name: str) -> Any:
    """The object of "module:Qualified.name"."""
    module, _, path = name.partition(":")
    found = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part)
    return found


def default_of(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return REQUIRED if field.default is dataclasses.MISSING else field.default


@pytest.mark.parametrize("name", FIELDS)
def test_a_dataclass_has_its_fields_in_order(name: str) -> None:
    fields = [(field.name, default_of(field)) for field in dataclasses.fields(find(name))]
    expected = FIELDS[name]
    assert fields[: len(expected)] == expected
    assert all(default != REQUIRED for _, default in fields[len(expected) :])
    if name in EXACT:
        assert len(fields) == len(expected)


def test_a_grid_state_has_the_types_of_the_contract() -> None:
    cell, ids = tuple[int, int], set[str]
    assert get_type_hints(find("gridworld.backends.base:GridState")) == {
        "agent_position": cell,
        "agent_direction": int,
        "agent_carrying": str | None,
        "step_count": int,
        "max_steps": int,
        "terminated": bool,
        "truncated": bool,
        "reward": float,
        "open_doors": ids,
        "collected_keys": ids,
        "active_switches": ids,
        "open_gates": ids,
        "block_positions": dict[str, cell],  # type: ignore[valid-type]
        "teleporter_cooldowns": dict[str, int],
        "goal_reached": bool,
        "observability_mode": str,
        "visible_cells": set[cell],  # type: ignore[valid-type]
        "explored_cells": set[cell],  # type: ignore[valid-type]
    }


@pytest.mark.parametrize("name", SIGNATURES)
def test_a_callable_takes_its_parameters_in_order(name: str) -> None:
    parameters = [p for p in inspect.signature(find(name)).parameters.values() if p.name not in ("self", "cls")]
    expected = [item if isinstance(item, tuple) else (item, inspect.Parameter.empty) for item in SIGNATURES[name]]
    assert [(p.name, p.default) for p in parameters[: len(expected)]] == expected
    assert all(p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters[: len(expected)])
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    assert all(p.default is not p.empty or p.kind in variadic for p in parameters[len(expected) :])


@pytest.mark.parametrize("module", ALIASES)
def test_a_top_level_name_is_that_of_the_package(module: str) -> None:
    for name in ALIASES[module]:
        found = find(f"{module}:{name}")
        assert found.__module__.startswith("gridworld.")
        assert find(f"{found.__module__}:{name}") is found


def test_a_task_needs_no_more_than_the_required_fields() -> None:
    task_spec = importlib.import_module("gridworld.task_spec")
    spec = task_spec.TaskSpecification.from_dict(MINIMAL)
    assert {name: getattr(spec, name) for name in OPTIONAL_TASK_FIELDS} == OPTIONAL_TASK_FIELDS
    assert (spec.mechanisms, spec.rules) == (task_spec.MechanismSet(), task_spec.Rules())
    assert spec.validate() == (True, [])
    for missing in MINIMAL:
        with pytest.raises(find("gridworld.errors:TaskError"), match=missing):
            task_spec.TaskSpecification.from_dict({key: MINIMAL[key] for key in MINIMAL if key != missing})


@pytest.mark.parametrize(
    ("field", "words"),
    [
        ("task_spec:SwitchType", {"toggle", "hold", "one_shot"}),
        ("task_spec:Observability", {"full", "view_cone", "fog_of_war"}),
        ("task_spec:GoalType", {"reach_position", "collect_all", "push_block_to", "survive_steps"}),
        ("task_spec:HazardType", {"lava", "pit", "spike"}),
    ],
)
def test_the_words_of_a_field_are_those_of_the_contract(field: str, words: set[str]) -> None:
    assert set(find(f"gridworld.{field}").__args__) == words


def test_both_backends_keep_the_interface() -> None:
    base = find("gridworld.backends.base:AbstractGridBackend")
    assert issubclass(find("gridworld.backends.minigrid_backend:MiniGridBackend"), base)
    assert issubclass(find("gridworld.backends.multigrid_backend:MultiGridBackend"), base)
    assert inspect.isabstract(base)


def test_native_actions_are_numbered_and_translated_as_in_the_contract() -> None:
    native = {"FORWARD": 0, "TURN_LEFT": 2, "TURN_RIGHT": 3, "PICKUP": 4, "DROP": 5, "TOGGLE": 6, "WAIT": 8}
    action = find("gridworld.multigrid.agent:Action")
    assert {name: int(action[name]) for name in native} == native
    names = ("turn_left", "turn_right", "move_forward", "pickup", "drop", "toggle", "done")
    assert find("gridworld.actions:ACTION_NAMES") == dict(enumerate(names))


def test_a_model_needs_a_name_and_predict_only() -> None:
    interface = find("model_interface:ModelInterface")
    assert issubclass(interface, abc.ABC)
    assert interface.__abstractmethods__ == {"model_name", "predict"}
    model_input, model_output = find("model_interface:ModelInput"), find("model_interface:ModelOutput")

    class MyModel(interface):  # type: ignore[misc, valid-type]
        @property
        def model_name(self) -> str:
            return "mine"

        def predict(self, input: Any) -> Any:
            return model_output(action=min(input.action_space))

    image = np.zeros((8, 8, 3), dtype=np.uint8)
    assert MyModel().predict(model_input(image, "go", {0: "turn_left"}, 1, 5)).action == 0


@pytest.mark.parametrize(
    "name",
    [
        "model_interface:RandomModelInterface",
        "model_interface:FileBasedModelInterface",
        "adapters.ollama_vlm_adapter:OllamaVLMAdapter",
        "adapters.lmstudio_vlm_adapter:LMStudioVLMAdapter",
    ],
)
def test_a_built_in_adapter_is_a_model(name: str) -> None:
    assert issubclass(find(name), find("model_interface:ModelInterface"))
    assert not inspect.isabstract(find(name))


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_the_command_takes_the_lines_of_the_contract(line: str) -> None:
    find("gridworld.evaluation.cli:build_app")().parse_args(line.split())


def test_the_command_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["scripts"]["multinet-run-eval"] == "spca.__main__:evaluate"
    assert callable(find("gridworld.evaluation.cli:main"))


def test_the_library_comes_from_the_package() -> None:
    """The paths of the contract are data of the package, wherever one stands."""
    env = find("gridworld.task_parser:TaskParser")().parse_file("gridworld/tasks/tier1/maze_simple_001.json")
    assert env.unwrapped.mission
    env.close()
