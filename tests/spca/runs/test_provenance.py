"""What a run was made with."""

from __future__ import annotations

import json
import platform
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from spca import __version__
from spca.common.installation import APPLICATIONS, applications
from spca.errors import ResumeError
from spca.runs.provenance import (
    check_sandbox,
    check_versions,
    models_info,
    note_continuation,
    record_continuation,
    run_info,
    versions,
)
from spca.runs.recording.folder import Begun, RunFolder
from spca.runs.settings import Settings
from tests.support.spca.call_requests import ref
from tests.support.spca.starting import resolve_words

SETTINGS = resolve_words(environ={"OPENAI_API_KEY": "very-secret", "GEMINI_API_KEY": "very-secret"})


def go_on(record: dict[str, Any], settings: Settings, finished: int, folder: Path) -> dict[str, Any]:
    """Return ``run.json`` after a run has gone on."""
    path = folder / "run.json"
    path.write_text(json.dumps(record))
    begun = Begun(RunFolder(folder), json.loads(path.read_text()), [{}] * finished)
    record_continuation(begun, settings, "strict")
    changed: dict[str, Any] = json.loads(path.read_text())
    return changed


def test_models_and_versions_but_no_secret(tmp_path: Path) -> None:
    info = run_info(SETTINGS, tmp_path, "strict")
    assert info["settings"] == SETTINGS.record()
    assert info["sandbox"] == "strict"
    assert info["models"] == {
        "planner": "openai/gpt-6.1-sol",
        "planner_small": "openai/gpt-6.1-terra",
        "coder": "openai/gpt-6.1-sol",
    }
    assert info["versions"]["spca"] == __version__
    assert info["versions"]["python"] == platform.python_version()
    assert {"numpy", "minigrid", "gymnasium", "unified-planning", "up-tamer"} <= set(info["versions"])
    assert "very-secret" not in str(info)


def test_outside_of_git_there_is_no_commit(tmp_path: Path) -> None:
    assert run_info(SETTINGS, tmp_path, "strict")["git_commit"] is None


def test_the_commit_is_that_of_the_checkout(tmp_path: Path) -> None:
    git = shutil.which("git")
    if git is None:
        pytest.skip("git is not installed")
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    for arguments in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "x")):
        subprocess.run([git, "-C", str(tmp_path), *arguments], check=True)
    asked = subprocess.run([git, "-C", str(tmp_path), "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    assert run_info(SETTINGS, tmp_path, "strict")["git_commit"] == asked.stdout.strip()


def test_the_prompts_are_those_of_the_settings(tmp_path: Path) -> None:
    variants = (SETTINGS, replace(SETTINGS, bare_prompt=True), replace(SETTINGS, rename_words=7))
    hashes = [run_info(settings, tmp_path, "strict")["hashes"]["prompts"] for settings in (*variants, SETTINGS)]
    assert len(set(hashes)) == 3
    assert hashes[0] == hashes[3]


def test_a_curriculum_is_its_levels_not_how_they_are_written(tmp_path: Path) -> None:
    texts = ('[{"a": 1, "b": 2}]', '[ {"b": 2,\n "a": 1} ]', '[{"a": 1, "b": 3}]')
    one, same, other = (run_info(SETTINGS, tmp_path, "strict", text)["hashes"]["curriculum"] for text in texts)
    assert one == same != other
    assert run_info(SETTINGS, tmp_path, "strict")["hashes"]["curriculum"] is None


def test_a_run_that_goes_on_with_the_same_source_notes_nothing(tmp_path: Path) -> None:
    info = run_info(SETTINGS, tmp_path, "strict", "[]")
    assert note_continuation(info, SETTINGS, tmp_path) == info


def test_a_run_that_goes_on_with_another_source_notes_it_once(tmp_path: Path) -> None:
    info = run_info(SETTINGS, tmp_path, "strict", "[]")
    (tmp_path / "main.py").write_text("edited = True\n", encoding="utf-8")
    changed = note_continuation(info, SETTINGS, tmp_path)
    (source,) = changed["continued_with"]
    assert source["hashes"]["product"] != info["hashes"]["product"]
    assert source["hashes"]["curriculum"] == info["hashes"]["curriculum"]
    assert changed == {**info, "continued_with": [source]}
    assert note_continuation(changed, SETTINGS, tmp_path) == changed


def test_a_run_of_an_earlier_version_notes_what_it_goes_on_with(tmp_path: Path) -> None:
    old: dict[str, object] = {"settings": {}, "git_commit": None}
    assert len(note_continuation(old, SETTINGS, tmp_path)["continued_with"]) == 1


@pytest.mark.parametrize(
    ("recorded", "commit"),
    [
        ('{"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "commit_id": "0a1b"}}', "0a1b"),
        ('{"url": "file:///x", "dir_info": {}}', None),
        (None, None),
    ],
)
def test_the_commit_of_an_install_is_that_of_its_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recorded: str | None, commit: str | None
) -> None:
    info = tmp_path / f"sense_plan_code_act-{__version__}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Name: sense-plan-code-act\nVersion: {__version__}\n", encoding="utf-8")
    if recorded is not None:
        (info / "direct_url.json").write_text(recorded, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert run_info(SETTINGS, APPLICATIONS, "strict")["git_commit"] == commit


def test_the_models_that_a_run_went_on_without_are_kept(tmp_path: Path) -> None:
    record = run_info(SETTINGS, applications(), "strict")
    assert go_on(record, SETTINGS, 3, tmp_path) == record
    old = {name: value for name, value in record.items() if name != "models"}
    assert go_on(old, SETTINGS, 3, tmp_path) == old, "of an earlier version"
    other = replace(SETTINGS, models=replace(SETTINGS.models, coder=ref("x/y")))
    changed = go_on(record, other, 3, tmp_path)
    assert changed["models"] == models_info(other)
    assert changed["earlier_models"] == [models_info(SETTINGS) | {"finished": 3}]
    again = go_on(changed, SETTINGS, 5, tmp_path)
    assert [(each["coder"], each["finished"]) for each in again["earlier_models"]] == [
        ("openai/gpt-6.1-sol", 3),
        ("x/y", 5),
    ]


def test_a_run_of_other_worlds_does_not_go_on() -> None:
    recorded = versions() | {"minigrid": "0.1"}
    check_versions(versions() | {"openai": "0.1"})
    with pytest.raises(ResumeError, match=r"begun with minigrid 0\.1, installed is"):
        check_versions(recorded)


def test_a_run_behind_another_wall_does_not_go_on() -> None:
    check_sandbox("strict", "strict")
    with pytest.raises(ResumeError, match="begun with sandbox strict, here it is unsafe: begin a new run"):
        check_sandbox("strict", "unsafe")
    with pytest.raises(ResumeError):
        check_sandbox(None, "strict")
