"""Models are looked up before anything is paid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date

import pytest

from spca.errors import ProviderConfigError, ProviderDownError, UnknownModelError
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.lookup import ESCAPE, KnownList, Report, State, judge
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Server, Servers
from spca.llm.providers.base import Listed
from tests.fakes.anthropic_wire import ANTHROPIC
from tests.fakes.faults import BROKEN, FaultServer
from tests.fakes.google_wire import GOOGLE
from tests.fakes.ollama_wire import OLLAMA
from tests.fakes.openai_wire import CHAT
from tests.support.spca.call_requests import ref
from tests.support.tiers import few

TODAY = date(2026, 11, 22)
OPENAI_OWN, GOOGLE_OWN = "https://eu.api.openai.com/v1", "https://generativelanguage.googleapis.com/"
ANTHROPIC_OWN = "https://api.anthropic.com"
ELSEWHERE = "http://localhost:8000/v1"
TABLE = ModelTable(
    {
        "*/over": {"shutdown": "2026-11-21", "successor": "openai/new"},
        "*/today": {"shutdown": "2026-11-22"},
        "*/soon": {"shutdown": "2027-01-21", "successor": "openai/new"},
        "*/later": {"shutdown": "2027-01-22"},
    }
)
NAMES = ("over", "today", "soon", "later", "fine", "qwen:latest", "qwen:7b")


def known(address: str, *names: str, **ends: date) -> KnownList:
    return KnownList(address, [*map(Listed, names), *(Listed(name, end) for name, end in ends.items())])


@pytest.mark.parametrize(
    ("model", "at", "state"),
    [
        # the table holds at the provider's own address, unless the list has the model
        ("openai/over", known(OPENAI_OWN, *NAMES), State.AVAILABLE),
        ("openai/over", known(OPENAI_OWN, "fine"), State.GONE),
        ("openai/over", KnownList(OPENAI_OWN, lost="no list"), State.GONE),
        ("openai/today", known(OPENAI_OWN, *NAMES), State.ENDING),
        ("openai/today", KnownList(OPENAI_OWN, lost="no list"), State.GONE),
        ("openai/soon", known(OPENAI_OWN, *NAMES), State.ENDING),
        ("openai/soon", KnownList(OPENAI_OWN, lost="no list"), State.ENDING),
        ("openai/later", known(OPENAI_OWN, *NAMES), State.AVAILABLE),
        ("openai/later", KnownList(OPENAI_OWN, lost="no list"), State.UNKNOWN),
        ("google/over", known(GOOGLE_OWN, "fine"), State.GONE),
        ("google/models/fine", known(GOOGLE_OWN, *NAMES), State.AVAILABLE),
        # a server of one's own may serve anything under a name
        ("openai/over", known(ELSEWHERE, *NAMES), State.AVAILABLE),
        ("openai/over", KnownList(ELSEWHERE, lost="no list"), State.UNKNOWN),
        ("openai/over", known(ELSEWHERE, "fine"), State.GONE),
        ("openai/soon", known(ELSEWHERE, *NAMES), State.AVAILABLE),
        ("openai/soon", known(ELSEWHERE, "fine"), State.UNLISTED),
        # the list's own word
        ("openai/x", known(OPENAI_OWN, x=date(2026, 11, 21)), State.GONE),
        ("openai/x", known(ELSEWHERE, x=date(2026, 11, 21)), State.GONE),
        ("openai/x", known(ELSEWHERE, x=date(2026, 11, 22)), State.ENDING),
        ("openai/x", known(ELSEWHERE, x=date(2027, 1, 21)), State.ENDING),
        ("openai/x", known(ELSEWHERE, x=date(2027, 1, 22)), State.AVAILABLE),
        ("openai/over", known(OPENAI_OWN, over=date(2027, 6, 1)), State.AVAILABLE),
        # a name that the list completes with a date
        ("anthropic/fine", known(ANTHROPIC_OWN, "fine-20251001"), State.AVAILABLE),
        ("anthropic/soon", known(ANTHROPIC_OWN, "soon-20251001"), State.ENDING),
        ("anthropic/fine", known(ANTHROPIC_OWN, "fine-2-20251001", "fine-2025"), State.MISSING),
        ("openai/fine", known(OPENAI_OWN, "fine-20251001"), State.MISSING),
        # missing
        ("openai/x", known(OPENAI_OWN, *NAMES), State.MISSING),
        ("google/x", known(GOOGLE_OWN, *NAMES), State.MISSING),
        ("openai/x", known("https://api.openai.com.example.net/v1", *NAMES), State.UNLISTED),
        ("openai/x", known(ELSEWHERE), State.UNLISTED),
        ("ollama/x", known(ELSEWHERE, *NAMES), State.MISSING),
        ("ollama/x:cloud", known(ELSEWHERE, *NAMES), State.UNLISTED),
        ("ollama/qwen", known(ELSEWHERE, *NAMES), State.AVAILABLE),
        ("ollama/qwen:7b", known(ELSEWHERE, *NAMES), State.AVAILABLE),
        ("ollama/qwen:14b", known(ELSEWHERE, *NAMES), State.MISSING),
        ("ollama/x", KnownList(ELSEWHERE, lost="no list"), State.UNKNOWN),
    ],
)
def test_what_a_list_and_the_table_say(model: str, at: KnownList, state: State) -> None:
    assert judge(ref(model), at, TABLE, TODAY).state is state


@pytest.mark.parametrize(
    ("model", "at", "words"),
    [
        ("openai/over", known(OPENAI_OWN), "openai/over was shut down on 2026-11-21: use openai/new"),
        ("openai/soon", known(OPENAI_OWN, "soon"), "openai/soon will be shut down on 2027-01-21: use openai/new"),
        (
            "openai/today",
            known(OPENAI_OWN),
            "openai/today was shut down on 2026-11-22: name another one with --planner",
        ),
        (
            "openai/fin",
            known(OPENAI_OWN, "fine"),
            f"openai/fin is not in the list of models at {OPENAI_OWN}: use openai/fine",
        ),
        ("ollama/qwen:14b", known(ELSEWHERE, "qwen:7b"), "fetch it with `ollama pull qwen:14b` or use ollama/qwen:7b"),
        ("openai/x", known(ELSEWHERE, "something-else"), f"openai/x is not in the list of models at {ELSEWHERE}"),
    ],
)
def test_words_say_what_to_use_instead(model: str, at: KnownList, words: str) -> None:
    assert words in judge(ref(model), at, TABLE, TODAY).words


def test_a_list_of_any_size_takes_no_time() -> None:
    at = known(OPENAI_OWN, *(f"{number}{'x' * 5000}" for number in range(2000)), *map(str, range(20_000)))
    assert judge(ref(f"openai/{'x' * 3000}"), at, TABLE, TODAY).state is State.MISSING


def look_up(models: Sequence[str], servers: Servers | None = None, today: date | None = None) -> Report:
    return Catalogue(servers=servers).look_up(map(ref, models), today)


def require_spelling(*models: str) -> None:
    Catalogue().require_spelling(map(ref, models))


DIALECTS = {"openai": CHAT, "anthropic": ANTHROPIC, "google": GOOGLE, "ollama": OLLAMA}


@pytest.fixture(params=DIALECTS)
def prefix(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "the-key-that-nobody-may-see")
    return str(request.param)


@pytest.fixture
def server(prefix: str) -> Iterator[FaultServer]:
    with FaultServer(DIALECTS[prefix]) as server:
        yield server


def test_a_list_is_asked_for_once_and_nothing_else(prefix: str, server: FaultServer) -> None:
    models = [f"{prefix}/{name}" for name in ("small", "large", "small")]
    report = look_up(models, {prefix: Server(server.base_url)})
    assert [(str(each.model), each.state) for each in report.findings] == [(m, State.AVAILABLE) for m in models[:2]]
    assert (report.line, report.warning()) == ("", "")
    assert [asked.method for asked in server.asked] == ["GET"]


def test_a_model_that_is_not_there(prefix: str, server: FaultServer) -> None:
    report = look_up([f"{prefix}/smal"], {prefix: Server(server.base_url)})
    assert f"{prefix}/smal is not in the list of models at http://127.0.0.1" in report.line
    assert f"use {prefix}/small" in report.line
    if prefix == "ollama":
        with pytest.raises(UnknownModelError, match=ESCAPE):
            report.warning()
    else:
        assert report.warning() == report.line


def test_a_list_of_a_server_of_ones_own_is_a_warning_at_most() -> None:
    with FaultServer(CHAT) as lab:
        servers = {"lab": Server(lab.base_url, is_named=True)}
        assert look_up(["lab/small@high"], servers).line == ""
        report = look_up(["lab/smal@low"], servers)
        assert [each.state for each in report.findings] == [State.UNLISTED]
        assert report.warning() == f"lab/smal@low is not in the list of models at {lab.base_url}: use lab/small"
        lab.listing = CHAT.refused(401, "No.", None)
        assert "is not available" in look_up(["lab/smal"], servers).warning()


@pytest.mark.parametrize("fault", few(2, ["truncated", "page", "silent", "401", "404", "500"]))
def test_a_list_that_cannot_be_had_is_one_warning(prefix: str, server: FaultServer, fault: str) -> None:
    dialect = server.dialect
    server.listing = BROKEN[fault](dialect) if fault in BROKEN else dialect.refused(int(fault), "No.", None)
    report = look_up([f"{prefix}/small", f"{prefix}/large"], {prefix: Server(server.base_url)})
    line = report.warning()
    assert {each.state for each in report.findings} == {State.UNKNOWN}
    assert line.count("is not available") == 1
    assert line.isprintable()
    assert "nobody-may-see" not in line
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_one_warning(prefix: str) -> None:
    with FaultServer(DIALECTS[prefix]) as gone:
        address = gone.base_url
    line = look_up([f"{prefix}/small"], {prefix: Server(address)}).warning()
    assert "is not available (no server at " in line


def test_all_providers_are_asked_and_one_line_names_all_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.setenv(name, "k")
    with ExitStack() as stack:
        servers = {prefix: stack.enter_context(FaultServer(dialect)) for prefix, dialect in DIALECTS.items()}
        servers["openai"].ends = {"small": "2026-10-01", "large": "2026-12-11T00:00:00Z"}
        servers["google"].listing = GOOGLE.refused(500, "It broke.", None)
        servers["anthropic"].ends = {"small": "2026-11-30"}
        models = ["openai/small", "openai/large", "google/large", "ollama/small", "reference/planner"]
        models.insert(2, "anthropic/small")
        addresses = {prefix: Server(server.base_url) for prefix, server in servers.items()}
        report = look_up(models, addresses, TODAY)
    states = [State.GONE, State.ENDING, State.ENDING, State.UNKNOWN, State.AVAILABLE, State.EMBEDDED]
    assert [each.state for each in report.findings] == states
    with pytest.raises(UnknownModelError) as caught:
        report.warning()
    line = str(caught.value)
    assert line.startswith("openai/small was shut down on 2026-10-01: name another one with --planner-model")
    assert "; openai/large will be shut down on 2026-12-11: " in line
    assert "; anthropic/small will be shut down on 2026-11-30: " in line
    assert "; the list of models at http://127.0.0.1" in line
    assert line.endswith(f"({ESCAPE})")
    assert "\n" not in line
    rows = report.render().splitlines()
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == [*map(str, states), "no"]
    assert max(map(len, rows)) <= 80


def test_a_day_that_cannot_be_read_is_none() -> None:
    with FaultServer(CHAT) as server:
        for day in ("soon", "", "2026-13-45", "99999999999"):
            server.ends = {"small": day}
            assert look_up(["openai/small"], {"openai": Server(server.base_url)}).line == ""


@pytest.mark.parametrize("model", ["reference/planner", "faulty/coder", "replay//no/run", "llamacpp//no.gguf"])
def test_what_runs_in_this_process_is_not_looked_up(model: str) -> None:
    (finding,) = look_up([model]).findings
    assert finding.state is State.EMBEDDED


def test_a_key_that_is_missing_is_said_as_ever() -> None:
    with pytest.raises(ProviderConfigError, match="set OPENAI_API_KEY"):
        look_up(["openai/gpt-6-luna"])


def test_a_server_that_cannot_be_reached_is_refused_at_once(prefix: str) -> None:
    with FaultServer(DIALECTS[prefix]) as gone:
        address = gone.base_url
    report = look_up([f"{prefix}/small", f"{prefix}/large"], {prefix: Server(address)})
    with pytest.raises(ProviderDownError) as caught:
        report.require_servers("offline, take another")
    line = str(caught.value)
    assert line.startswith(f"{prefix}/")
    assert "no server at http://127.0.0.1" in line
    assert line.endswith(f"; offline, take another ({ESCAPE})")
    assert line.count("no server") == 1


@pytest.mark.parametrize("fault", few(2, ["truncated", "silent", "401", "404", "500"]))
def test_a_server_that_is_there_is_asked(prefix: str, server: FaultServer, fault: str) -> None:
    dialect = server.dialect
    server.listing = BROKEN[fault](dialect) if fault in BROKEN else dialect.refused(int(fault), "No.", None)
    report = look_up([f"{prefix}/small"], {prefix: Server(server.base_url)})
    assert report.unreachable == ()
    report.require_servers("")


LOST = KnownList("https://api.openai.com/v1", lost="no list")


def test_a_misspelled_name_is_refused_without_a_list() -> None:
    table = ModelTable.load()
    finding = judge(ref("openai/gpt-6.1-soll@high"), LOST, table, TODAY)
    assert finding.state is State.MISSING
    assert finding.words.startswith("openai/gpt-6.1-soll@high is no model that is known: use openai/gpt-6.1-sol@high")
    assert judge(ref("openai/gpt-6.3-sol"), LOST, table, TODAY).state is State.UNKNOWN
    assert judge(ref("openai/gpt-6.1-soll"), replace(LOST, address=ELSEWHERE), table, TODAY).state is State.UNKNOWN
    with pytest.raises(UnknownModelError, match=r"use openai/gpt-6\.1-sol, or describe it with --model-table"):
        require_spelling("reference/planner", "openai/gpt-6.1-soll")
    Catalogue(table, {"openai": Server(ELSEWHERE)}).require_spelling([ref("openai/gpt-6.1-soll")])
    require_spelling("openai/gpt-6.3-sol", "lab/gpt-6.1-soll", "human/editor")
