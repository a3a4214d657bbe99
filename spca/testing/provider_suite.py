"""What every provider of a model promises; see :class:`spca.llm.providers.base.Provider`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from typing import ClassVar

import pytest
from pydantic import BaseModel

from spca.errors import ProviderConfigError, ProviderError, UnsupportedFormError
from spca.llm.providers.base import Finish, Form, Message, Provider, Request, Response, Target, Tool

MAX_MESSAGE = 1_000
"""Largest number of characters of an error's message."""


class LookArguments(BaseModel):
    """A form of answer, and the parameters of a tool."""

    place: str
    count: int


LOOK = Tool("look", "Look around.", LookArguments)


def check_response(response: Response) -> None:
    """Check what holds of every answer; counts that the provider does not know are None."""
    assert isinstance(response, Response)
    assert isinstance(response.text, str)
    assert isinstance(response.served, str)
    assert response.finish in Finish
    for name, count in asdict(response.usage).items():
        assert count is None or (type(count) is int and count >= 0), name
    assert bool(response.tool_calls) == (response.finish is Finish.TOOL_CALL)


def check_form(response: Response, form: Form) -> None:
    """Check that a finished answer has the form that was asked for."""
    if response.finish is not Finish.STOP:
        return
    if form is Form.JSON:
        assert isinstance(json.loads(response.text), dict), "the answer is no object of JSON: refuse the form instead"
    elif form is Form.SCHEMA:
        LookArguments.model_validate_json(response.text)


def check_error(error: ProviderError) -> None:
    """Check what holds of every error: its message is one line that can be printed."""
    message = str(error)
    assert message
    assert message.isprintable()
    assert len(message) <= MAX_MESSAGE


class ProviderSuite:
    """Promises of a provider: one request has one answer, and errors are those of :mod:`spca.errors`, in one line.

    Override the fixture ``make``: it returns what ``registry.provider(prefix, make)`` registers.

    Attributes:
        model_name: name of a model, without prefix.
        unknown_name: name of a model that is refused; "" if every name is accepted.
        question: a conversation that the provider answers.
        keeps_forms: whether answers have the form that was asked for; False for a server that says the same to all.
    """

    model_name: ClassVar[str] = "m"
    unknown_name: ClassVar[str] = ""
    keeps_forms: ClassVar[bool] = True
    question: ClassVar[tuple[Message, ...]] = (Message("system", "Be brief."), Message("user", "Say hello."))

    @pytest.fixture
    def make(self) -> Callable[[Target], Provider]:
        """Return a function that makes the provider of a model."""
        raise NotImplementedError("override the fixture make: it returns a function that makes a provider of a target")

    @pytest.fixture
    def tested(self, make: Callable[[Target], Provider]) -> Provider:
        """Return the provider to test."""
        return make(Target(self.model_name))

    @pytest.fixture
    def failing(self) -> Provider:
        """Return a provider whose server fails; override it if there is one."""
        pytest.skip("no failing provider is given: override the fixture failing")

    def ask(self, provider: Provider, **changes: object) -> Response:
        """Return the answer to a request, which must not have changed."""
        request = replace(Request(self.model_name, self.question), **changes)  # type: ignore[arg-type]
        before = repr(request)
        response = provider.complete(request)
        assert repr(request) == before
        return response

    def test_a_question_is_answered(self, tested: Provider) -> None:
        response = self.ask(tested)
        check_response(response)
        assert response.text or response.finish is Finish.REFUSAL

    def test_a_provider_answers_again(self, tested: Provider) -> None:
        for occurrence in range(3):
            check_response(self.ask(tested, occurrence=occurrence))

    def test_providers_answer_at_the_same_time(self, make: Callable[[Target], Provider]) -> None:
        providers = [make(Target(self.model_name)) for _ in range(4)]
        with ThreadPoolExecutor(len(providers)) as pool:
            for response in pool.map(self.ask, providers):
                check_response(response)

    @pytest.mark.parametrize("form", Form)
    def test_a_form_is_answered_or_refused(self, tested: Provider, form: Form) -> None:
        try:
            response = self.ask(tested, schema=LookArguments, form=form)
        except UnsupportedFormError as error:
            check_error(error)
            assert form is not Form.TEXT, "words are the weakest form"
        else:
            check_response(response)
            if self.keeps_forms:
                check_form(response, form)

    def test_tools_that_are_called_are_those_given(self, tested: Provider) -> None:
        response = self.ask(tested, tools=(LOOK,), tool_choice="auto")
        check_response(response)
        assert {call.name for call in response.tool_calls} <= {LOOK.name}
        for call in response.tool_calls:
            assert isinstance(call.arguments, Mapping), "the arguments of a tool are a dict"

    def test_the_model_is_among_those_named(self, tested: Provider) -> None:
        assert self.model_name in getattr(tested, "models", (self.model_name,))

    def test_an_unknown_model_is_refused(self, make: Callable[[Target], Provider]) -> None:
        if not self.unknown_name:
            pytest.skip("every name is accepted")
        with pytest.raises(ProviderConfigError) as caught:
            self._ask_unknown(make)
        check_error(caught.value)

    def _ask_unknown(self, make: Callable[[Target], Provider]) -> None:
        provider = make(Target(self.unknown_name))
        if self.unknown_name not in getattr(provider, "models", (self.unknown_name,)):
            raise ProviderConfigError("the catalogue refuses what is not among the provider's models")
        self.ask(provider, model=self.unknown_name)

    def test_a_failure_is_one_line(self, failing: Provider) -> None:
        with pytest.raises(ProviderError) as caught:
            self.ask(failing)
        check_error(caught.value)
