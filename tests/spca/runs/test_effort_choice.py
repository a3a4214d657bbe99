"""Efforts of the models of a run: after their names, by flags, in the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.common.errors import SettingsError
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import find_place
from spca.runs.models import Models
from spca.runs.screen.lines import describe_models
from spca.runs.settings import Settings
from tests.support.spca.call_requests import ref
from tests.support.spca.starting import resolve_words

SOL, TERRA = "openai/gpt-6.1-sol", "openai/gpt-6.1-terra"
KEYS = {"OPENAI_API_KEY": "very-secret"}
LAB = ("--server", "lab=http://h:1/v1", "--planner-model", "lab/m")
EFFORTS = ("--planner-effort", "high", "--planner-small-effort", "low", "--coder-effort", "max")


def settings(*argv: str, **environ: str) -> Settings:
    return resolve_words(*argv, environ=environ)


def names(*argv: str, **environ: str) -> tuple[str, ...]:
    """The models of the large and the small planner and of the coder."""
    return tuple(map(str, settings(*argv, **environ).models.refs))


def test_an_effort_is_another_way_to_write_it_after_the_name() -> None:
    both = (f"{SOL}@high", f"{TERRA}@low", f"{SOL}@max")
    flags = ("--planner-model", both[0], "--planner-small-model", both[1], "--coder-model", both[2])
    assert settings(*EFFORTS, **KEYS) == settings(*flags, **KEYS)
    assert names(*EFFORTS, *flags, **KEYS) == both
    environ = {"SPCA_PLANNER_EFFORT": "high", "SPCA_PLANNER_SMALL_EFFORT": "low", "SPCA_CODER_EFFORT": "max"}
    assert names(**environ, **KEYS) == both


def test_two_efforts_share_price_place_and_defaults() -> None:
    chosen = settings("--planner-model", f"{TERRA}@high", "--base-url", "https://eu.api.openai.com/v1", **KEYS)
    assert tuple(map(str, chosen.models.refs)) == (f"{TERRA}@high", TERRA, SOL)
    assert Models.load(chosen.models).caps() == Caps(5.0)
    assert find_place(ref(f"{TERRA}@high"), chosen.models.servers) == find_place(ref(TERRA), chosen.models.servers)
    said = describe_models(Models.load(settings(*EFFORTS, **KEYS).models), KEYS, Caps(5.0))
    assert said.startswith(f"Models: planner {SOL}@high, small planner {TERRA}@low, coder {SOL}@max; capped at 5 USD")


def test_a_model_that_plays_all_parts_keeps_its_effort_unless_a_part_has_its_own() -> None:
    at_lab = (*LAB[:2], "--planner-model", "lab/m@high")
    assert names(*LAB, *EFFORTS[:2]) == names(*at_lab) == ("lab/m@high",) * 3
    assert names(*at_lab, *EFFORTS[4:]) == ("lab/m@high", "lab/m@high", "lab/m@max")


def test_a_flag_goes_before_what_the_environment_says_of_efforts() -> None:
    environ = {"SPCA_PLANNER_MODEL": f"{SOL}@low", "SPCA_CODER_EFFORT": "low", **KEYS}
    assert names(*EFFORTS[:2], **environ)[0] == f"{SOL}@high"
    assert names("--coder-model", f"{SOL}@high", **environ)[2] == f"{SOL}@high"
    assert names("--coder-model", SOL, **environ)[2] == f"{SOL}@low"
    assert names("--coder-model", "reference/coder", **environ)[2] == "reference/coder"


def test_an_effort_of_the_environment_keeps_nobody_from_the_embedded_models() -> None:
    environ = {"SPCA_PLANNER_EFFORT": "high", "SPCA_CODER_EFFORT": "low"}
    assert settings(**environ) == settings()
    assert settings("--planner-model", "reference/planner", **environ, **KEYS).models.uses_reference


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
    assert names("--coder-model", f"llamacpp/{tmp_path}/m.gguf@high")[2].endswith("m.gguf@high")


def test_an_at_in_the_name_of_a_model_elsewhere_is_its_own() -> None:
    assert names("--coder-model", "openai/gemma@q4", OPENAI_BASE_URL="http://x/v1")[2] == "openai/gemma@q4"
    assert names("--coder-model", "lab/gemma@q4", *LAB)[2] == "lab/gemma@q4"
