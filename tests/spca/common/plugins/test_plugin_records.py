"""What a run folder names is compared with what is loaded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.errors import PluginError
from spca.common.plugins.plugin_records import PluginRecord, list_plugin_flags, require_no_other, require_recorded

LAB = PluginRecord("lab", "/here/lab.py", "1.0", "ab12" * 16, ("relic red",), 119)
RECORD: dict[str, Any] = {"plugins": [LAB.to_dict()]}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5) | st.just("name"), inner, max_size=3)
    ),
    max_leaves=8,
)


def test_the_same_plugin_passes() -> None:
    require_recorded(RECORD, "run r", [LAB])
    require_recorded({}, "run r", [LAB])
    require_recorded({}, "run r", [])
    require_no_other(RECORD, "run r", [LAB])


@given(json_values)
def test_flags_of_recorded_plugins_hold_no_path(listed: Any) -> None:
    named = {"plugins": [{"given": "/here/lab.py"}, listed, {"given": "vending"}]}
    flags = list_plugin_flags(named)
    assert flags[:2] == ["--plugin", "lab.py"]
    assert flags[-2:] == ["--plugin", "vending"]
    assert list_plugin_flags({"plugins": listed}) == [] or isinstance(listed, list)


def test_a_missing_plugin_is_asked_for_by_its_flag() -> None:
    words = "run r used the plugin lab 1.0, which is not loaded: give --plugin /here/lab.py, or install it"
    with pytest.raises(PluginError, match=words):
        require_recorded(RECORD, "run r", [])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"version": "1.1"}, "used the plugin lab 1.0, loaded is 1.1: load the same version"),
        ({"version": ""}, "loaded is one without a version"),
        ({"sha256": "cd34" * 16}, r"with another source \(ab12ab12ab12, not cd34cd34cd34\)"),
        ({"first_code": 126}, "had other codes: give the plugins in the run's order"),
    ],
)
def test_another_plugin_of_the_same_name_is_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(PluginError, match=words):
        require_recorded(RECORD, "run r", [replace(LAB, **change)])


def test_a_plugin_in_another_place_is_the_same() -> None:
    require_recorded(RECORD, "run r", [replace(LAB, given="/there/lab.py")])


def test_a_further_plugin_may_add_no_words() -> None:
    other = PluginRecord("other", "other", words=("idol red",), first_code=126)
    with pytest.raises(PluginError, match="was begun without the plugin other: leave it out"):
        require_no_other(RECORD, "run r", [LAB, other])
    require_no_other(RECORD, "run r", [LAB, replace(other, words=())])


@given(json_values)
def test_an_edited_record_is_one_line(value: object) -> None:
    if value != []:
        with pytest.raises(PluginError) as caught:
            require_recorded({"plugins": value}, "run r", [LAB])
        assert "\n" not in str(caught.value)
