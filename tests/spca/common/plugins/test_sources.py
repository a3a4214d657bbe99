"""Plugins as modules: found, imported, identified."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from spca.common.environment import PLUGINS_VARIABLE
from spca.common.errors import PluginError
from spca.common.plugins.sources import PluginSource, list_named_sources


@pytest.fixture(autouse=True)
def forgotten_modules() -> Iterator[None]:
    """Forget the modules that a test imports."""
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def write_package(folder: Path, name: str, **texts: str) -> Path:
    package = folder / name
    package.mkdir()
    for stem, text in {"__init__": "", **texts}.items():
        (package / f"{stem}.py").write_text(text, encoding="utf-8")
    return package


def test_a_file_is_imported_under_its_own_name(folder: Path) -> None:
    (folder / "planted_lab.py").write_text("__version__ = '1.2'\n", encoding="utf-8")
    source = PluginSource.parse("planted_lab.py")
    assert (source.given, source.module) == (str(folder / "planted_lab.py"), "planted_lab")
    module = source.import_plugin()
    assert sys.modules["planted_lab"] is module is source.import_plugin()
    assert source.find_version(module) == "1.2"


def test_a_file_may_not_have_the_name_of_another_module(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("raise RuntimeError", encoding="utf-8")
    with pytest.raises(PluginError, match="another module is called json: rename the file"):
        PluginSource.parse(str(tmp_path / "json.py")).import_plugin()


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("nothing.py", "there is no such file"),
        ("a folder/", "there is no such file"),
        ("no-identifier.py", "the file is to be called NAME.py"),
        ("two words", "is a dotted module or the path of a .py file"),
        ("planted.nowhere", "there is no such module: install it"),
    ],
)
def test_what_is_no_plugin_is_one_line(folder: Path, text: str, fault: str) -> None:
    (folder / "no-identifier.py").touch()
    with pytest.raises(PluginError, match=fault) as caught:
        PluginSource.parse(text).import_plugin()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "cause", ["raise ValueError('no\\nluck')", "raise SystemExit(3)", "import planted_missing", "def"]
)
def test_a_failing_import_names_the_cause_and_leaves_no_module(folder: Path, cause: str) -> None:
    (folder / "planted_bad.py").write_text(cause, encoding="utf-8")
    with pytest.raises(PluginError, match="cannot be imported") as caught:
        PluginSource.parse("planted_bad.py").import_plugin()
    assert "\n" not in str(caught.value)
    assert caught.value.__cause__ is not None
    assert "planted_bad" not in sys.modules


def test_the_hash_covers_all_python_files_of_a_package(folder: Path) -> None:
    package = write_package(folder, "planted_package", plugin="", worlds="SIZE = 1\n")
    source = PluginSource.parse("planted_package.plugin")
    module = source.import_plugin()
    before = source.hash_source(module)
    (package / "notes.txt").write_text("no source", encoding="utf-8")
    assert source.hash_source(module) == before
    (package / "worlds.py").write_text("SIZE = 2\n", encoding="utf-8")
    assert source.hash_source(module) != before


def test_flags_come_before_the_variable_and_each_plugin_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "planted_a.py").touch()
    (folder / "planted_b.py").touch()
    monkeypatch.setenv(PLUGINS_VARIABLE, "planted.c, planted_b.py:planted_a.py,")
    sources = list_named_sources(["planted_b.py"])
    assert [source.module for source in sources] == ["planted_b", "planted.c", "planted_a"]
    assert [source.named_by for source in sources] == ["--plugin", PLUGINS_VARIABLE, PLUGINS_VARIABLE]


def test_two_files_of_one_name_are_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PLUGINS_VARIABLE, raising=False)
    (folder / "deeper").mkdir()
    for path in (folder / "planted_a.py", folder / "deeper" / "planted_a.py"):
        path.touch()
    with pytest.raises(PluginError, match="are both called planted_a: rename one of them"):
        list_named_sources(["planted_a.py", "deeper/planted_a.py"])


def test_an_installed_package_names_its_plugin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PLUGINS_VARIABLE, raising=False)
    write_package(folder, "planted_package")
    info = folder / "planted_package-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: planted-package\nVersion: 3.1\n", encoding="utf-8")
    (info / "top_level.txt").write_text("planted_package\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[spca.plugins]\nlab = planted_package\n", encoding="utf-8")
    (source,) = list_named_sources([])
    assert source.named_by == "the installed plugin lab,"
    assert source.find_version(source.import_plugin()) == "3.1"
