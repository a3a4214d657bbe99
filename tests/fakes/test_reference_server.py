"""The ledger of the reference server, which those of a run are held against."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, fields, replace
from pathlib import Path

import pytest

from plannerLLM import PDDLResp
from spca.errors import ProviderConfigError, TransientError, UnknownModelError, UnsupportedFormError
from spca.llm.catalogue.servers import Server
from spca.llm.providers.base import Finish, Form, Listing, Message, ModelInfo, RequestOptions, Response, Target, Usage
from spca.llm.providers.openai.openai import OpenAIProvider
from spca.reference import planner
from tests.fakes.reference_server import Line, ReferenceServer, Settings
from tests.support.contracts.providing import GO_TO, request_of
from tests.support.processes import Process
from tests.support.reference.asking import prompt
from tests.support.spca.call_requests import provider_for
from tests.support.spca.doubles import ROOT
from tests.support.waiting import AGES, becomes

PROMPT = prompt("go to the red ball", "empty", "ball red")


@contextmanager
def serving(api: str = "chat", **settings: object) -> Iterator[tuple[ReferenceServer, OpenAIProvider]]:
    with ReferenceServer(replace(Settings(), **settings)) as server:  # type: ignore[arg-type]  # each as declared
        yield server, OpenAIProvider(Target("m", server.base_url, ModelInfo(api=api)))


def told(line: Line) -> Usage:
    return Usage(**{field.name: getattr(line, field.name) for field in fields(Usage)})


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_it_answers_like_the_embedded_model_and_books_what_it_reports(api: str) -> None:
    with serving(api) as (server, provider):
        answers = [provider.complete(request_of(*PROMPT, schema=PDDLResp)) for _ in range(2)]
    assert {answer.text for answer in answers} == {planner.answer(PROMPT)}
    assert [told(line) for line in server.asked] == [answer.usage for answer in answers]
    first, second = (answer.usage for answer in answers)
    assert first.cached_tokens == 0
    assert second.cached_tokens
    assert second.cached_tokens <= (second.input_tokens or 0)
    assert (first.cache_write_tokens, second.cache_write_tokens) == (second.cached_tokens, 0)


@pytest.mark.parametrize("prefix", ["anthropic", "google", "ollama"])
def test_it_speaks_the_protocol_of_each_provider(prefix: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "not-a-real-key")
    with ReferenceServer(Settings(models=("m", "n"))) as server:
        provider, _ = provider_for(f"{prefix}/m", servers={prefix: Server(server.url)})
        assert isinstance(provider, Listing)
        assert [each.name for each in provider.list_models()] == ["m", "n"]
        answer = provider.complete(request_of(*PROMPT, schema=PDDLResp))
        assert (answer.text, answer.usage) == (planner.answer(PROMPT), told(server.asked[0]))
        with pytest.raises(UnknownModelError):
            provider.complete(replace(request_of(*PROMPT), model="x"))


@pytest.mark.parametrize(
    ("api", "model", "effort", "said"),
    [
        ("chat", "gpt-5.6-sol", None, "Function tools .* use /v1/responses instead"),
        ("chat", "gpt-6-luna", "low", "Function tools .* use /v1/responses instead"),
        ("responses", "gpt-6.1-sol", "none", "'none' is not supported with the 'gpt-6.1-sol' model"),
        ("chat", "gpt-6-luna", "none", ""),
        ("chat", "gpt-5.4", None, ""),
        ("responses", "gpt-6-luna", None, ""),
        ("responses", "gpt-6.1-sol", "low", ""),
    ],
)
def test_it_refuses_what_openai_refuses(api: str, model: str, effort: str | None, said: str) -> None:
    limits = RequestOptions(effort=effort)
    with serving(api) as (server, provider):
        request = replace(request_of(*PROMPT, tools=(GO_TO,), limits=limits), model=model)
        if said:
            with pytest.raises(ProviderConfigError, match=said):
                provider.complete(request)
        else:
            provider.complete(request)
        assert [line.status for line in server.asked] == [400 if said else 200]


def test_a_schema_in_words_goes_to_the_planner_too() -> None:
    with serving() as (_, provider):
        assert provider.complete(request_of(*PROMPT, schema=PDDLResp, form=Form.TEXT)).text == planner.answer(PROMPT)


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_what_the_model_cannot_answer_it_refuses(api: str) -> None:
    with serving(api) as (_, provider):
        response = provider.complete(request_of(Message("user", "Tell me a joke.")))
    assert response.finish is Finish.REFUSAL
    assert "<task>" in response.text


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_the_limit_cuts_the_answer(api: str) -> None:
    with serving(api) as (_, provider):
        response = provider.complete(request_of(*PROMPT, schema=PDDLResp, limits=RequestOptions(100)))
    assert response.finish is Finish.LENGTH
    assert response.usage.output_tokens == 100
    assert planner.answer(PROMPT).startswith(response.text)


def outcomes(seed: int) -> list[str]:
    found: list[str] = []
    waited: list[float | None] = []
    with serving(faults=0.4, seed=seed) as (server, provider):
        for _ in range(30):
            try:
                provider.complete(request_of(*PROMPT))
                found.append("200")
            except TransientError as error:
                found.append(f"{error.status}")
                waited.append(error.retry_after)
        assert [f"{line.status}" for line in server.asked] == found
        assert waited == [0 if status == "429" else None for status in found if status != "200"]
        assert [line.fault or "200" for line in server.asked] == found
    return found


@pytest.mark.long
def test_faults_are_drawn_from_the_seed() -> None:
    first = outcomes(1)
    assert first == outcomes(1)
    assert first != outcomes(2)
    assert set(first) == {"200", "429", "500"}


def test_capabilities_can_be_taken_away() -> None:
    with serving(schema=False, usage=False, models=("m", "n")) as (server, provider):
        with pytest.raises(UnsupportedFormError):
            provider.complete(request_of(*PROMPT, schema=PDDLResp))
        assert provider.complete(request_of(*PROMPT, schema=PDDLResp, form=Form.JSON)) == Response(
            planner.answer(PROMPT), Usage()
        )
        with pytest.raises(UnknownModelError, match="m, n"):
            provider.complete(replace(request_of(*PROMPT), model="o3"))
        assert [(line.status, line.number) for line in server.lines] == [(400, 1), (200, 2), (404, 3), (200, 0)]
        assert told(server.asked[1]) == Usage()


@pytest.mark.long
def test_the_command_writes_its_log_before_it_answers(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    command = [sys.executable, "-m", "tests.fakes.reference_server", "--log", str(log), "--stall", str(AGES)]
    with Process(command, cwd=ROOT, stdout=subprocess.PIPE) as process, ThreadPoolExecutor(1) as pool:
        try:
            assert process.stdout
            provider = OpenAIProvider(Target("m", process.stdout.readline().strip()))
            answer = pool.submit(provider.complete, request_of(*PROMPT, limits=RequestOptions(timeout_s=AGES)))
            assert becomes(lambda: log.exists() and log.read_text().endswith("\n"))
            assert not answer.done()
        finally:
            process.kill()
    assert isinstance(answer.exception(), TransientError)
    (line,) = map(json.loads, log.read_text().splitlines())
    assert set(line) == set(asdict(Line(1, 0, "", "", None, "", 0)))
    assert (line["number"], line["path"], line["model"], line["status"]) == (1, "/v1/chat/completions", "m", 200)
