"""Servers that do not know every form of answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from spca.errors import (
    ProviderConfigError,
    TransientError,
    UnsupportedApiError,
    UnsupportedFormError,
)
from spca.llm.providers.base import Form as Forms
from spca.llm.providers.base import Request, Response
from tests.support.spca.call_requests import PAID, USAGE, Answers, Desk, Form, request
from tests.support.spca.doubles import ScriptedProvider

BUSY = TransientError("x: busy", status=429)
OK = Response("yes", USAGE)


class Choosy:
    """A server that knows certain forms of answer only."""

    def __init__(self, *known: Forms, busy: int = 0) -> None:
        self.known, self.busy = known, busy
        self.forms: list[Forms] = []

    def complete(self, asked: Request) -> Response:
        self.forms.append(asked.form)
        if self.busy:
            self.busy -= 1
            raise BUSY
        if asked.form not in self.known:
            raise UnsupportedFormError(f"x: no {asked.form}")
        return OK


def test_a_weaker_form_is_tried_and_remembered_for_the_model() -> None:
    desk, server = Desk(), Choosy(Forms.TEXT)
    answered = desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert desk.outcomes == ["rejected", "rejected", "answered"]
    assert [record.form for record in answered.records] == ["json_schema", "json_object", "text"]
    assert [record.attempt for record in answered.records] == [1, 2, 3]
    desk.ask(server, request("b", schema=Form))
    assert server.forms[3:] == [Forms.TEXT]
    desk.ask(server, request("b", schema=Form), "other/model")
    assert server.forms[4:] == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert (desk.waited, desk.notes) == ([], [])


def test_a_form_that_is_known_is_not_weakened() -> None:
    server = Choosy(Forms.SCHEMA, Forms.JSON, Forms.TEXT, busy=2)
    Desk().ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA] * 3


def test_another_api_is_tried_in_the_same_form() -> None:
    errors = [UnsupportedApiError("x: no such API; asked through another one from now on")]
    server = Answers(lambda _: errors.pop() if errors else OK)
    desk = Desk()
    assert desk.ask(server, request("a", schema=Form)).answer.get() == OK
    assert [asked.form for asked in server.requests] == [Forms.SCHEMA] * 2
    assert desk.outcomes == ["rejected", "answered"]
    assert (desk.waited, desk.notes) == ([], [])


def test_retries_go_on_in_the_weaker_form() -> None:
    desk, server = Desk(), Choosy(Forms.JSON, busy=1)
    answered = desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.SCHEMA, Forms.JSON]
    assert [record.attempt for record in answered.records] == [1, 2, 3]


def test_a_server_that_refuses_every_form_cannot_be_asked() -> None:
    desk, server = Desk(), Choosy()
    with pytest.raises(ProviderConfigError, match=rf"{PAID}: the server refused every form of answer"):
        desk.ask(server, request("a", schema=Form))
    assert server.forms == [Forms.SCHEMA, Forms.JSON, Forms.TEXT]
    assert desk.outcomes == ["rejected"] * 3


def test_the_form_does_not_change_the_call(tmp_path: Path) -> None:
    asked = request("a", schema=Form)
    Desk(tmp_path).level().ask(Choosy(Forms.TEXT), asked)
    assert Desk(tmp_path).level().ask(ScriptedProvider(), asked).source == "resumed"


def test_free_text_has_no_form() -> None:
    (record,) = Desk().ask(ScriptedProvider(OK)).records
    assert record.form == ""
