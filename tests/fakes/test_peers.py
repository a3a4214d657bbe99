"""Independent servers that are not installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fakes import peers


def test_a_missing_server_skips_by_hand_and_fails_in_ci(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CI", "")
    with pytest.raises(pytest.skip.Exception, match="apt install nodejs npm"), peers.aimock():
        pass
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="apt install nodejs npm"), peers.aimock():
        pass
