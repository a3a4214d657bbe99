"""Which source makes a result."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from spca.common import source_state
from spca.common.installation import APPLICATIONS
from spca.common.source_state import describe_changed_source, hash_texts, read_source_state
from tests.support.spca.doubles import ROOT

GIT = shutil.which("git")
WHO = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *arguments: str) -> None:
    if GIT is None:
        pytest.skip("git is not installed")
    subprocess.run([GIT, "-C", str(folder), *WHO, *arguments], check=True)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository with a commit."""
    (tmp_path / "main.py").write_text("first = 1\n", encoding="utf-8")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "main.py")
    git(tmp_path, "commit", "-q", "-m", "x")
    return tmp_path


def test_a_checkout_as_committed_is_clean(checkout: Path) -> None:
    (checkout / "runs").mkdir()
    (checkout / "runs" / "note.txt").write_text("of nobody's concern", encoding="utf-8")
    state = read_source_state(checkout)
    assert (len(state.git_commit or ""), state.git_dirty) == (40, False)


@pytest.mark.parametrize("is_staged", [False, True])
def test_an_edited_file_makes_it_dirty_and_another_product(checkout: Path, is_staged: bool) -> None:
    before = read_source_state(checkout)
    (checkout / "main.py").write_text("first = 2\n", encoding="utf-8")
    if is_staged:
        git(checkout, "add", "main.py")
    after = read_source_state(checkout)
    assert (after.git_commit, after.git_dirty) == (before.git_commit, True)
    assert after.product != before.product


def test_without_git_edits_are_unknown_and_the_product_is_known(tmp_path: Path) -> None:
    state = read_source_state(tmp_path)
    assert (state.git_commit, state.git_dirty, len(state.product)) == (None, None, 64)


def test_a_git_that_fails_is_no_git(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    state = read_source_state(checkout)
    assert (state.git_commit, state.git_dirty) == (None, None)


def test_a_wheel_has_the_product_of_the_checkout_it_was_built_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in (tmp_path / "checkout", tmp_path / "site-packages"):
        (folder / "spca" / "prompts").mkdir(parents=True)
        (folder / "spca" / "act.py").write_text("x = 1\n", encoding="utf-8")
        (folder / "spca" / "prompts" / "planner.jinja").write_text("plan", encoding="utf-8")
    applications = tmp_path / "site-packages" / "spca" / APPLICATIONS.name
    applications.mkdir()
    (tmp_path / "checkout" / "main.py").write_text("y = 1\n", encoding="utf-8")
    (applications / "main.py").write_text("y = 1\n", encoding="utf-8")
    cache = tmp_path / "site-packages" / "spca" / "__pycache__"
    cache.mkdir()
    (cache / "left.py").touch()

    def hashed(root: Path, packages: Path) -> str:
        monkeypatch.setattr(source_state, "PACKAGES", packages)
        return read_source_state(root).product

    checkout = hashed(tmp_path / "checkout", tmp_path / "checkout")
    assert hashed(applications, tmp_path / "site-packages") == checkout
    (tmp_path / "checkout" / "spca" / "prompts" / "planner.jinja").write_text("replan", encoding="utf-8")
    assert hashed(tmp_path / "checkout", tmp_path / "checkout") != checkout


def test_a_dead_link_of_an_editor_does_not_stop_a_run(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (checkout / "spca").mkdir()
    (checkout / "spca" / ".#act.py").symlink_to("nobody@nowhere:1")
    monkeypatch.setattr(source_state, "PACKAGES", checkout)
    assert len(read_source_state(checkout).product) == 64


def test_every_application_of_a_wheel_is_part_of_the_product() -> None:
    built = runpy.run_path(str(ROOT / "scripts" / "wheel.py"))["APPLICATIONS"]
    assert {name for name in built if name.endswith(".py")} == set(source_state._PRODUCT_APPLICATIONS)


def test_where_a_text_ends_counts() -> None:
    assert len({hash_texts("a", "bc"), hash_texts("ab", "c"), hash_texts("abc"), hash_texts("abc", "")}) == 4


def test_results_finished_with_another_source_say_so(tmp_path: Path) -> None:
    before = read_source_state(tmp_path)
    record = json.loads(json.dumps(before.to_dict()))
    assert describe_changed_source(record, before) == {}
    (tmp_path / "agent.py").write_text("edited = True\n", encoding="utf-8")
    after = read_source_state(tmp_path)
    assert describe_changed_source(record, after) == {"continued_with": [after.to_dict()]}
