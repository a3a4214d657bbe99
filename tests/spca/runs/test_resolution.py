"""Flags, environment and defaults."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spca.common.environment import load_environment
from spca.common.errors import SettingsError, UsageError
from spca.errors import ResumeError
from spca.llm.calls.budget import Caps
from spca.runs import resolution
from spca.runs.options import ModelOptions
from spca.runs.settings import ModelSettings, Settings
from tests.support.spca.call_requests import ref
from tests.support.spca.starting import HERE, resolve_words

SOL, TERRA = "openai/gpt-6.1-sol", "openai/gpt-6.1-terra"


def settings(*argv: str, **environ: str) -> Settings:
    return resolve_words(*argv, environ=environ)


def names(chosen: Settings) -> tuple[str, ...]:
    """The models of the large and the small planner and of the coder."""
    return tuple(map(str, chosen.models.refs))


def test_without_flags_and_key_the_reference_model_learns_the_whole_curriculum() -> None:
    assert settings() == Settings(
        curriculum="/checkout/merged_curriculum2.json",
        workspace="/checkout/workspace",
        runs="/checkout/runs",
        models=ModelSettings(ref("reference/planner"), ref("reference/planner"), ref("reference/coder")),
        seed=1,
    )


def test_with_a_key_the_default_models_are_those_of_openai() -> None:
    chosen = settings(OPENAI_API_KEY="not-a-key")
    assert names(chosen) == ("openai/gpt-6.1-sol", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol")
    assert "not-a-key" not in str(chosen)


def test_a_flag_wins_over_the_environment_over_the_default() -> None:
    environ = {"SPCA_PLANNER_MODEL": "x/env", "SPCA_CODER_MODEL": "x/env", "SPCA_ENGINE": "tamer"}
    chosen = settings("--planner-model", "x/flag", **environ)
    assert names(chosen) == ("x/flag", "x/flag", "x/env")  # one planner is both, unless the small one is chosen too
    assert names(settings("--planner-model", "x/1", SPCA_PLANNER_SMALL_MODEL="x/2"))[:2] == ("x/1", "x/2")
    assert names(settings(**environ | {"SPCA_PLANNER_MODEL": ""}))[:2] == ("reference/planner", "reference/planner")
    assert chosen.engine == "tamer"
    assert settings("--engine", "pyperplan", **environ).engine == "pyperplan"
    assert settings(SPCA_ENGINE="").engine is None


def test_every_flag_reaches_the_settings() -> None:
    flags = (
        "--start-category a --only b --only c* --seed 7 --curriculum c.json --keep-agent --keep-pddl --resume r "
        "--workspace w --runs /abs/r --planner-model p/1 --planner-small-model p/2 --coder-model p/3 --engine e "
        "--max-cost 0.5 --max-calls 3 --max-tokens 400 --max-output-tokens 50 --timeout 2.5 --cache "
        "--base-url http://localhost:1/v1 --model-table t.json --render --quiet --unsafe-no-sandbox --no-preflight "
        "--server p=http://localhost:2/v1,P_KEY --server q=http://localhost:3/v1 "
        "--no-compile --no-reuse --no-regression-check --no-curriculum --bare-prompt --rename-words 5"
    )
    chosen = settings(*flags.split())
    assert chosen.record() | {"upstream_rules": False} == {
        "world": "minigrid",
        "prompts": None,
        "curriculum": "/here/c.json",
        "workspace": "/here/w",
        "runs": "/abs/r",
        "planner_model": "p/1",
        "planner_small_model": "p/2",
        "coder_model": "p/3",
        "seed": 7,
        "start_category": "a",
        "only": "b",
        "levels": "c*",
        "keep_agent": True,
        "keep_pddl": True,
        "engine": "e",
        "base_url": "http://localhost:1/v1",
        "anthropic_base_url": None,
        "google_base_url": None,
        "ollama_host": None,
        "servers": "p=http://localhost:2/v1|P_KEY",
        "model_table": "/here/t.json",
        "max_cost": 0.5,
        "max_calls": 3,
        "max_tokens": 400,
        "max_output_tokens": 50,
        "timeout": 2.5,
        "preflight": False,
        "cache": True,
        "render": True,
        "quiet": True,
        "resume": "r",
        "unsafe_no_sandbox": True,
        "compile": False,
        "reuse": False,
        "regression_check": False,
        "carry_over": False,
        "bare_prompt": True,
        "rename_words": 5,
        "upstream_rules": False,
    }


@pytest.mark.parametrize(
    "argv",
    [
        ["--seed", "-1"],
        ["--seed", "1.5"],
        ["--seed", ""],
        *(["--max-cost", amount] for amount in ("-1", "inf", "nan", "much")),
        *(["--max-calls", count] for count in ("0", "-1", "1.5", "")),
        ["--max-tokens", "0"],
        ["--max-output-tokens", "0"],
        ["--timeout", "-1"],
        ["x"],
        ["--so"],
    ],
)
def test_a_bad_flag_is_one_line(argv: list[str]) -> None:
    with pytest.raises(UsageError) as caught:
        settings(*argv)
    line = str(caught.value)
    assert "\n" not in line
    assert line.endswith("--help lists all options")


def test_a_folder_that_was_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(SettingsError, match="the current folder was deleted"):
        load_environment()


def test_categories_that_exclude_one_another() -> None:
    with pytest.raises(SettingsError, match="--start-category and --only"):
        resolution._check_settings(settings("--only", "a", "--start-category", "b"))
    resolution._check_settings(settings("--only", "a"))


RECORDED = settings("--seed", "3", "--workspace", "w").record()


def resumed(*argv: str, recorded: dict[str, Any] = RECORDED, **environ: str) -> Settings:
    return resolve_words(*argv, recorded=Settings.from_record(recorded), environ=environ)


def test_a_resumed_run_has_its_recorded_settings() -> None:
    chosen = resumed("--resume", "r")
    assert chosen == replace(Settings.from_record(RECORDED), resume="r")


def test_settings_come_out_of_a_record_as_they_went_in() -> None:
    flags = ("--planner-model", "lab/m@high", "--server", "lab=http://h:1/v1,LAB_KEY", "--max-cost", "0.5")
    chosen = settings(*flags, "--seed", "7", "--base-url", "http://o/v1", OLLAMA_HOST="h:2")
    record = json.loads(json.dumps(chosen.record()))
    assert Settings.from_record(record) == chosen
    assert Settings.from_record(record).record() == record


def test_what_changes_no_result_may_change() -> None:
    chosen = resumed("--resume", "r", "--quiet", "--render", "--max-cost", "9")
    assert (chosen.quiet, chosen.render, chosen.models.caps.cost_usd) == (True, True, 9.0)
    chosen = resumed(
        *[
            "--resume",
            "r",
            "--cache",
            "--max-calls",
            "7",
            "--max-tokens",
            "8",
            "--timeout",
            "9",
            "--model-table",
            "t.json",
        ]
    )
    assert (chosen.models.cache, chosen.models.caps) == (True, Caps(None, 7, 8))
    assert chosen.models.limits.timeout_s == 9.0
    assert chosen.models.model_table == "/here/t.json"


@pytest.mark.parametrize(
    ("variable", "name"),
    [
        ("ANTHROPIC_BASE_URL", "anthropic_base_url"),
        ("GOOGLE_GEMINI_BASE_URL", "google_base_url"),
        ("OLLAMA_HOST", "ollama_host"),
    ],
)
def test_servers_may_have_moved_when_a_run_goes_on(variable: str, name: str) -> None:
    recorded = settings(**{variable: "http://old"}).record()
    assert resumed(recorded=recorded).record()[name] == "http://old"
    assert resumed(recorded=recorded, **{variable: ""}).record()[name] == "http://old"
    assert resumed(recorded=recorded, **{variable: "http://new"}).record()[name] == "http://new"


def test_a_server_that_a_flag_can_name_moves_by_the_flag() -> None:
    recorded = settings("--base-url", "http://old", OPENAI_BASE_URL="http://env").record()
    assert resumed(recorded=recorded, OPENAI_BASE_URL="http://env").record()["base_url"] == "http://old"
    assert (
        resumed("--base-url", "http://new", recorded=recorded, OPENAI_BASE_URL="http://env").record()["base_url"]
        == "http://new"
    )
    assert resumed(recorded=settings().record(), OPENAI_BASE_URL="http://env").record()["base_url"] == "http://env"


def test_a_server_of_ones_own_moves_by_flag_else_environment() -> None:
    flags = ("--planner-model", "lab/m", "--server", "lab=http://old/v1,LAB_KEY")
    recorded = settings(*flags).record()
    assert resumed(recorded=recorded).record()["servers"] == recorded["servers"] == "lab=http://old/v1|LAB_KEY"
    env = {"SPCA_SERVERS": "lab=http://env/v1, other=http://o/v1"}
    assert resumed(recorded=recorded, **env).record()["servers"] == "lab=http://env/v1"
    moved = resumed("--server", "lab=http://new/v1,NEW_KEY", recorded=recorded, **env)
    assert moved.record()["servers"] == "lab=http://new/v1|NEW_KEY"
    assert recorded | moved.record_changes() == recorded | {"servers": moved.record()["servers"]}


def test_a_run_that_goes_on_keeps_its_efforts() -> None:
    recorded = settings("--coder-effort", "high", OPENAI_API_KEY="k").record()
    model = "openai/gpt-6.1-sol"
    for same in ((), ("--coder-effort", "high"), ("--coder-model", model, "--coder-effort", "high")):
        chosen = resumed("--resume", "r", *same, recorded=recorded, SPCA_CODER_EFFORT="low", OPENAI_API_KEY="k")
        assert names(chosen)[2] == f"{model}@high"
    with pytest.raises(SettingsError, match="--coder-effort high: reference/coder reasons as it does"):
        resumed("--resume", "r", "--coder-effort", "high")


@pytest.mark.parametrize(
    ("flags", "models"),
    [
        (("--coder-model", "x/y"), (SOL, TERRA, "x/y")),
        (("--coder-model", "x/y@low"), (SOL, TERRA, "x/y@low")),
        (("--coder-effort", "low"), (SOL, TERRA, f"{SOL}@low")),
        (("--planner-model", "lab/m", "--server", "lab=http://new/v1"), ("lab/m", TERRA, f"{SOL}@high")),
        (("--planner-model", "replay/runs/1"), ("replay//here/runs/1", TERRA, f"{SOL}@high")),
    ],
)
def test_a_run_goes_on_with_the_models_that_flags_name(flags: tuple[str, ...], models: tuple[str, str, str]) -> None:
    begun = settings("--coder-effort", "high", OPENAI_API_KEY="k").record()
    chosen = resumed("--resume", "r", *flags, recorded=begun, SPCA_PLANNER_MODEL="x/of-the-environment")
    assert names(chosen) == models
    assert chosen.record()["servers"] == ("lab=http://new/v1" if "--server" in flags else None)
    kept = begun | chosen.record_changes()
    assert names(resumed("--resume", "r", recorded=kept)) == models, "they hold the next time too"


def test_an_evaluation_keeps_its_models() -> None:
    recorded = settings("--planner-model", SOL).record()
    with pytest.raises(ResumeError, match=r"^--planner-model x/y contradicts the evaluation"):
        resolution.resolve_models(
            ModelOptions(planner_model="x/y"), {}, HERE, Settings.from_record(recorded).models, "evaluation"
        )


def test_a_model_that_is_a_folder_is_the_same_when_a_run_goes_on() -> None:
    recorded = settings("--planner-model", "replay/runs/1").record()
    assert names(resumed("--planner-model", "replay/runs/1", recorded=recorded))[0] == "replay//here/runs/1"


def test_the_address_of_the_server_comes_from_flag_or_environment() -> None:
    environ = {"OPENAI_BASE_URL": "http://env", "GOOGLE_GEMINI_BASE_URL": "http://g", "OLLAMA_HOST": "h:1"}
    chosen = settings("--base-url", "http://flag", **environ)
    record = chosen.record()
    assert (record["base_url"], record["google_base_url"], record["ollama_host"]) == ("http://flag", "http://g", "h:1")
    assert settings(**environ).record()["base_url"] == "http://env"
    assert settings(OPENAI_BASE_URL="").record()["base_url"] is None


def test_what_a_flag_changed_lasts_but_not_how_the_run_is_watched() -> None:
    begun = settings("--max-calls", "3").record()
    flags = ("--max-calls", "9", "--timeout", "7", "--quiet", "--cache")
    kept = begun | resumed("--resume", "r", *flags, recorded=begun).record_changes()
    assert kept == begun | {"max_calls": 9, "timeout": 7.0}


def test_a_run_that_was_ablated_is_not_made_whole() -> None:
    begun = settings("--no-compile", "--rename-words", "5").record()
    assert resumed("--resume", "r", "--no-compile", recorded=begun).ablations == ("--no-compile", "--rename-words 5")
    with pytest.raises(ResumeError, match="--compile contradicts the run, which was begun without: leave --compile"):
        resumed("--resume", "r", "--compile", recorded=begun)
    with pytest.raises(ResumeError, match="--rename-words 6 contradicts the run, which has 5: leave --rename-words"):
        resumed("--resume", "r", "--rename-words", "6", recorded=begun)


def test_pddl_is_not_kept_where_none_is_shown() -> None:
    with pytest.raises(SettingsError, match="--keep-pddl and --no-reuse"):
        resolution._check_settings(settings("--keep-pddl", "--no-reuse"))


def test_the_embedded_model_does_not_read_invented_words() -> None:
    for models in (
        (),
        ("--planner-small-model", "reference/planner", "--planner-model", "x/1"),
        ("--coder-model", "x/1"),
    ):
        with pytest.raises(SettingsError, match=r"--rename-words: reference.*reads the true words only"):
            resolution._check_settings(settings("--rename-words", "0", *models))
    resolution._check_settings(settings("--rename-words", "0", "--planner-model", "x/1", "--coder-model", "x/1"))


@pytest.mark.parametrize("models", [(), ("--planner-model", "faulty/planner")])
def test_bare_prompts_want_a_model_that_reads_prompts(models: tuple[str, ...]) -> None:
    with pytest.raises(SettingsError, match=r"--bare-prompt: \w+/planner does not read prompts: give other models"):
        resolution._check_settings(settings("--bare-prompt", *models))
    resolution._check_settings(settings("--bare-prompt", "--coder-model", "x/1"))


def test_what_goes_on_is_called_what_it_is() -> None:
    known = settings("--planner-model", "openai/gpt-6.1-sol", OPENAI_API_KEY="k").models
    with pytest.raises(ResumeError, match=r"^--planner-effort high contradicts the evaluation, which"):
        resolution.resolve_models(ModelOptions(planner_effort="high"), {}, HERE, known, "evaluation")
    with pytest.raises(ResumeError, match=r"^--engine tamer contradicts the evaluation, which"):
        resolution.require_same([resolution.Claim("--engine", "tamer", None)], "evaluation")


def test_a_flag_that_says_what_the_run_has_is_no_contradiction() -> None:
    assert resumed("--resume", "r", "--seed", "3", "--workspace", "/here/w").seed == 3


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["--seed", "4"], "--seed 4 contradicts the run, which has 3: leave --seed out"),
        (["--keep-pddl"], "--keep-pddl contradicts the run, which was begun without: leave --keep-pddl out"),
        (["--no-reuse"], "--no-reuse contradicts the run, which was begun without: leave --no-reuse out"),
        (["--no-curriculum"], "--no-curriculum contradicts the run, which was begun without: leave --no-curriculum"),
        (["--bare-prompt"], "--bare-prompt contradicts the run, which was begun without: leave --bare-prompt out"),
        (["--rename-words", "5"], "--rename-words 5 contradicts the run, which was begun without"),
        (["--only", "E*"], "--only E* contradicts the run, which was begun without"),
        (["--curriculum", "x"], "--curriculum x contradicts the run, which has /checkout/merged_curriculum2.json"),
    ],
)
def test_a_contradiction_names_the_flag(argv: list[str], said: str) -> None:
    with pytest.raises(ResumeError) as caught:
        resumed("--resume", "r", *argv)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("change", [{"seed": None}, {"surprise": 1}])
def test_settings_of_another_version_are_refused(change: dict[str, Any]) -> None:
    recorded = {**RECORDED, **change}
    if recorded["seed"] is None:
        del recorded["seed"]
    with pytest.raises(ResumeError, match="another version"):
        resumed("--resume", "r", recorded=recorded)


def test_how_a_run_is_watched_is_not_taken_over_when_it_goes_on() -> None:
    chosen = resumed("--resume", "r", recorded=settings("--quiet", "--render").record())
    assert (chosen.quiet, chosen.render) == (False, False)
