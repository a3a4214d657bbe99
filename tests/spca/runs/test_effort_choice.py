"""Efforts of the models of a run: after their names, by flags, in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.common.errors import SettingsError
from spca.llm.calls.budget import Caps
from spca.runs import cli
from spca.runs.model_choice import Models
from spca.runs.settings import Settings

SOL, TERRA = "openai/gpt-6.1-sol", "openai/gpt-6.1-terra"
KEYS = {"OPENAI_API_KEY": "very-secret"}
LAB = ("--server", "lab=http://h:1/v1", "--planner-model", "lab/m")
EFFORTS = ("--planner-effort", "high", "--planner-small-effort", "low", "--coder-effort", "max")


def settings(*argv: str, **environ: str) -> Settings:
    return cli.settings_from(cli.parse(argv, {"run": ""}), environ, Path("/checkout"), Path("/here"))


def test_an_effort_is_another_way_to_write_it_after_the_name() -> None:
    both = (f"{SOL}@high", f"{TERRA}@low", f"{SOL}@max")
    names = ("--planner-model", both[0], "--planner-small-model", both[1], "--coder-model", both[2])
    assert settings(*EFFORTS, **KEYS) == settings(*names, **KEYS)
    assert settings(*EFFORTS, *names, **KEYS).models == both
    environ = {"SPCA_PLANNER_EFFORT": "high", "SPCA_PLANNER_SMALL_EFFORT": "low", "SPCA_CODER_EFFORT": "max"}
    assert settings(**environ, **KEYS).models == both


def test_two_efforts_share_price_place_and_defaults() -> None:
    chosen = settings("--planner-model", f"{TERRA}@high", "--base-url", "https://eu.api.openai.com/v1", **KEYS)
    assert chosen.models == (f"{TERRA}@high", TERRA, SOL)
    assert Models.of(chosen).caps() == Caps(5.0)
    assert Models.of(chosen).place(f"{TERRA}@high") == Models.of(chosen).place(TERRA)
    said = Models.of(settings(*EFFORTS, **KEYS)).greeting(KEYS, Caps(5.0))
    assert said.startswith(f"Models: planner {SOL}@high, small planner {TERRA}@low, coder {SOL}@max; capped at 5 USD")


def test_a_model_that_plays_all_parts_keeps_its_effort_unless_a_part_has_its_own() -> None:
    at_lab = (*LAB[:2], "--planner-model", "lab/m@high")
    assert settings(*LAB, *EFFORTS[:2]).models == settings(*at_lab).models == ("lab/m@high",) * 3
    assert settings(*at_lab, *EFFORTS[4:]).models == ("lab/m@high", "lab/m@high", "lab/m@max")


def test_a_flag_goes_before_what_the_environment_says_of_efforts() -> None:
    environ = {"SPCA_PLANNER_MODEL": f"{SOL}@low", "SPCA_CODER_EFFORT": "low", **KEYS}
    assert settings(*EFFORTS[:2], **environ).planner_model == f"{SOL}@high"
    assert settings("--coder-model", f"{SOL}@high", **environ).coder_model == f"{SOL}@high"
    assert settings("--coder-model", SOL, **environ).coder_model == f"{SOL}@low"
    assert settings("--coder-model", "reference/coder", **environ).coder_model == "reference/coder"


def test_an_effort_of_the_environment_keeps_nobody_from_the_embedded_models() -> None:
    environ = {"SPCA_PLANNER_EFFORT": "high", "SPCA_CODER_EFFORT": "low"}
    assert settings(**environ) == settings()
    assert settings("--planner-model", "reference/planner", **environ, **KEYS).uses_reference


@pytest.mark.parametrize(
    ("argv", "environ", "said"),
    [
        (
            ("--planner-effort", "hihg"),
            {},
            "--planner-effort hihg: an effort is one of none, minimal, low",
        ),
        (
            ("--coder-effort", "low", "--coder-model", f"{SOL}@high"),
            {},
            f"--coder-effort low contradicts {SOL}@high: give one of them",
        ),
        ((), {"SPCA_CODER_EFFORT": "low", "SPCA_CODER_MODEL": f"{SOL}@high"}, "SPCA_CODER_EFFORT low contradicts"),
        (("--planner-effort", "low"), {}, "--planner-effort low: reference/planner reasons as it does: "),
        (
            (),
            {"SPCA_CODER_EFFORT": "low", "SPCA_CODER_MODEL": "reference/coder"},
            "SPCA_CODER_EFFORT low: reference/coder reasons as it does: ",
        ),
        (
            ("--coder-effort", "low", "--coder-model", "llamacpp/m.gguf"),
            {},
            "--coder-effort low: llamacpp/m.gguf ",
        ),
        *(
            (
                ("--coder-model", f"{model}@low"),
                {},
                f"--coder-model {model}@low: {prefix}/... reasons as it does: leave @low",
            )
            for prefix, model in (
                ("reference", "reference/coder"),
                ("llamacpp", "llamacpp//no.gguf"),
                ("replay", "replay//no/run"),
                ("human", "human//no/folder"),
            )
        ),
        (("--coder-model", f"{SOL}@hihg"), {}, f"--coder-model {SOL}@hihg: @hihg is no effort: it is one of none, "),
    ],
)
def test_an_effort_that_cannot_be_meant_is_one_line(argv: tuple[str, ...], environ: dict[str, str], said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        settings(*argv, **environ)
    assert str(caught.value).startswith(said)


def test_a_file_keeps_the_name_it_has(tmp_path: Path) -> None:
    (tmp_path / "m.gguf@high").touch()
    assert settings("--coder-model", f"llamacpp/{tmp_path}/m.gguf@high").coder_model.endswith("m.gguf@high")


def test_an_at_in_the_name_of_a_model_elsewhere_is_its_own() -> None:
    assert settings("--coder-model", "openai/gemma@q4", OPENAI_BASE_URL="http://x/v1").coder_model == "openai/gemma@q4"
    assert settings("--coder-model", "lab/gemma@q4", *LAB).coder_model == "lab/gemma@q4"
