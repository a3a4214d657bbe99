"""Books of episodes: what is kept, what is asked again, and caps over all of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gridworld.adapters.asking import Asking, Books, was_worked_on
from gridworld.adapters.language_model import LanguageModel
from gridworld.errors import BudgetSpentError, ModelUnavailableError
from spca.common.errors import SettingsError
from spca.errors import ProviderConfigError, TransientError
from spca.llm.calls.budget import Caps
from spca.llm.calls.ledger import BOOK, IN_FLIGHT
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Server, Servers
from spca.llm.providers.base import Request, Response, Usage
from tests.support.gridworld.drawn import drawn
from tests.support.gridworld.serving import seen
from tests.support.spca.call_requests import ref

TABLE = ModelTable({"lab/*": {"input": 1_000_000, "output": 1_000_000}})
"""A dollar for a token."""
TASKS = [replace(drawn("####\n#AG#\n####"), task_id=f"t{number}") for number in range(3)]


class Saying:
    """A provider that gives answers in order, the last one again and again; errors are raised."""

    def __init__(self, *answers: str | Exception) -> None:
        self.answers, self.requests = answers, list[Request]()

    def complete(self, request: Request) -> Response:
        self.requests.append(request)
        answer = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return Response(answer, Usage(3, 2))


class Asked(LanguageModel):
    """A model of a provider of the test."""

    def __init__(self, provider: Saying, asking: Asking) -> None:
        self.provider = provider
        super().__init__(ref("lab/m@low"), asking)

    def _make(self) -> Any:
        return self.provider


def asked(folder: Path | None, *answers: str | Exception, servers: Servers | None = None, **more: Any) -> Asked:
    return Asked(Saying(*answers or ("Action: 2",)), Asking(catalogue=Catalogue(TABLE, servers), books=folder, **more))


def play(model: Asked, number: int = 0, steps: int = 2) -> list[int]:
    model.begin_episode(TASKS[number], 0)
    return [model.predict(seen(step_number=step)).action for step in range(1, steps + 1)]


def test_an_episode_has_books_of_its_own(tmp_path: Path) -> None:
    model = asked(tmp_path)
    for number in range(2):
        play(model, number)
        details = model.episode_details()
        assert (details["requests"], details["cost_usd"], details["cost_unknown"]) == (2, 10.0, 0)
    folders = sorted(tmp_path.iterdir())
    assert [folder.name.rpartition("-")[0] for folder in folders] == ["t0", "t1"]
    for folder in folders:
        lines = [json.loads(line) for line in (folder / BOOK).read_text(encoding="utf-8").splitlines()]
        assert [(line["model"], line["level"], line["cost"]) for line in lines] == [
            ("lab/m@low", folder.name[:2], 5.0)
        ] * 2
        assert len(list((folder / "llm").iterdir())) == 2
    assert {request.limits.effort for request in model.provider.requests} == {"low"}


def test_what_was_answered_is_not_asked_again(tmp_path: Path) -> None:
    play(asked(tmp_path, "Action: 2", "nothing", "Action: 1"), steps=2)
    again = asked(tmp_path, "Action: 0")
    assert play(again, steps=3) == [2, 1, 0]
    assert len(again.provider.requests) == 1
    details = again.episode_details()
    assert (details["requests"], details["cost_usd"], details["repairs"]) == (4, 20.0, 1)


def test_another_seed_or_backend_is_another_episode(tmp_path: Path) -> None:
    model = asked(tmp_path)
    for seed, backend in ((0, "minigrid"), (1, "minigrid"), (0, "multigrid")):
        model.begin_episode(TASKS[0], seed, backend=backend)
        model.predict(seen())
    assert len(model.provider.requests) == len(list(tmp_path.iterdir())) == 3


def test_caps_hold_for_all_episodes_together(tmp_path: Path) -> None:
    one = asked(tmp_path, caps=Caps(calls=3))
    play(one, 0)
    other = asked(tmp_path, caps=Caps(calls=3))
    with pytest.raises(BudgetSpentError, match=r"3 requests were sent \(--max-calls 3\)") as caught:
        play(other, 1)
    assert (caught.value.flag, caught.value.exit_code) == ("--max-calls", 3)
    assert len(one.provider.requests) + len(other.provider.requests) == 3
    with pytest.raises(BudgetSpentError, match="15"):
        play(asked(tmp_path, caps=Caps(cost_usd=12.5)), 2, steps=1)
    with pytest.raises(BudgetSpentError, match="--max-tokens"):
        play(asked(tmp_path, caps=Caps(tokens=15)), 2, steps=1)
    play(asked(tmp_path, caps=Caps(15.1, 4, 16)), 2, steps=1)


def test_a_request_in_flight_elsewhere_counts(tmp_path: Path) -> None:
    """Another process has sent it, or died while it waited."""
    model = asked(tmp_path)
    play(model, 0, steps=1)
    (folder,) = tmp_path.iterdir()
    (line,) = (folder / BOOK).read_text(encoding="utf-8").splitlines()
    flying = folder / IN_FLIGHT
    flying.write_text(json.dumps(json.loads(line) | {"number": 2, "outcome": "unknown"}), encoding="utf-8")
    books = Books(tmp_path)
    assert [record.number for record in books.others()] == [1, 2]
    flying.write_text(line, encoding="utf-8")
    assert [record.number for record in books.others()] == [1], "it has come to its end meanwhile"
    flying.write_text(line[:50], encoding="utf-8")
    with (folder / BOOK).open("a", encoding="utf-8") as book:
        book.write(line[:50])
    assert [record.number for record in books.others()] == [1], "what is being written is not there yet"
    assert Books(tmp_path, folder).others() == []


def test_reading_the_books_of_others_costs_little(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        play(asked(tmp_path), number)
    books, reads = Books(tmp_path), list[str]()
    read = Path.read_bytes

    def reading(path: Path) -> bytes:
        reads.append(path.name)
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert len(books.others()) == len(books.others()) == 6
    assert reads.count(BOOK) == 3


def test_a_lost_request_may_have_been_paid_for_and_a_refused_one_not(tmp_path: Path) -> None:
    refused, lost = tmp_path / "refused", tmp_path / "lost"
    with pytest.raises(ModelUnavailableError, match="no key"):
        play(asked(refused, ProviderConfigError("lab/m: no key")))
    assert not was_worked_on(refused)
    model = asked(lost, TransientError("lab/m: it broke", lost=True), "Action: 2")
    model.asking = replace(model.asking, policy=replace(model.asking.policy, first_s=0.0))
    play(model, steps=1)
    details = model.episode_details()
    assert (details["requests"], details["retries"], details["cost_usd"], details["cost_unknown"]) == (2, 1, 5.0, 1)
    assert was_worked_on(lost)


def test_books_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    play(asked(tmp_path))
    (folder,) = tmp_path.iterdir()
    (folder / BOOK).write_text("{}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"calls\.jsonl: this ledger cannot be read"):
        was_worked_on(tmp_path)


def test_the_cache_serves_answers_that_named_an_action(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    asked_first = asked(tmp_path / "1", "Action: 2", "nothing", "Action: 1", cache=cache)
    play(asked_first)
    again = asked(tmp_path / "2", "nothing again", "Action: 3", cache=cache)
    assert play(again) == [2, 3]
    assert again.episode_details()["requests"] == 2
    elsewhere = asked(None, "Action: 5", cache=cache, servers={"lab": Server("http://elsewhere/v1")})
    assert play(elsewhere, steps=1) == [5], "another server is another model"


def test_a_folder_that_cannot_be_written_to_ends_the_evaluation(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ModelUnavailableError, match="is not a folder"):
        play(asked(tmp_path / "file" / "o.calls"))


def test_a_model_that_gets_nothing_to_see_is_not_judged() -> None:
    model = asked(None)
    nothing = np.zeros((0, 0, 3), dtype=np.uint8)
    with pytest.raises(ModelUnavailableError, match="text_observation"):
        model.predict(seen(image=nothing))
    model.predict(seen(image=nothing, additional_context="You are at column 1, row 1."))
    (request,) = model.provider.requests
    assert not any(message.images for message in request.messages)
    assert "arrow or triangle" not in request.messages[0].text
    assert "You are at column 1, row 1." in request.messages[1].text
