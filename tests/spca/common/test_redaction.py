"""Keys in errors of libraries."""

from __future__ import annotations

import traceback

import pytest

from spca.common.redaction import HIDDEN, error_chain, redact_error

KEY = "a-key-that-nobody-may-read"


class ResponseError(Exception):
    """Keeps its text in an attribute, as some libraries do."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said

    def __str__(self) -> str:
        return self.said


def caught() -> ResponseError:
    try:
        try:
            raise ValueError(f"Illegal header value b'Bearer {KEY}'", 7)
        except ValueError as error:
            raise ResponseError(f"cannot send {KEY}") from error
    except ResponseError as error:
        return error


def test_the_texts_of_an_error_and_of_its_causes_lose_their_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANY_API_KEY", KEY)
    error = caught()
    assert KEY in str(error)
    redact_error(error)
    assert KEY not in "".join(traceback.format_exception(error))
    assert str(error) == f"cannot send {HIDDEN}"
    assert error.__cause__ is not None
    assert error.__cause__.args[1] == 7


def test_a_circle_of_causes_ends() -> None:
    one, other = ValueError("one"), ValueError("other")
    one.__cause__, other.__cause__ = other, one
    assert list(error_chain(one)) == [one, other]
