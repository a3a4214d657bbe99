"""The command ``models``: what it lists, and how it stands in a terminal."""

from __future__ import annotations

import json
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import main
from spca.common.command import EXIT_USER_ERROR
from spca.llm.catalogue import servers as addresses
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.catalogue.servers import Server
from spca.runs.model_list import Entry, Offer, list_offers, render_offers
from tests.fakes.reference_server import ReferenceServer, Settings

TODAY = date(2026, 11, 23)
TABLE = ModelTable.load()
KEY = "not-a-real-key-0123456789"
NAMES = st.text("abc-/.:", min_size=1, max_size=70)
PRICES = st.none() | st.decimals(0, 999, places=3)
ENTRIES = st.builds(
    Entry, NAMES, PRICES, PRICES, st.none() | st.integers(1, 10**8), st.none() | st.dates(), grows=st.booleans()
)
OFFERS = st.builds(
    Offer,
    st.text("ab_-", min_size=1, max_size=9),
    st.text("abc :./", max_size=200),
    st.booleans(),
    st.just(()) | st.tuples(NAMES, NAMES, NAMES),
    st.lists(ENTRIES, max_size=4).map(tuple),
    st.lists(NAMES, max_size=9).map(tuple),
)


@given(st.lists(OFFERS, max_size=4))
def test_lines_fit_80_columns_and_words_stay_whole(offers: list[Offer]) -> None:
    lines = list(render_offers(offers))
    words = " ".join(lines).split()
    for line in lines:
        assert len(line) <= 80 or len(line.split()) == 1 or len(line.split()[1]) > 60
    for offer in offers:
        assert {entry.model for entry in offer.entries} <= set(words)
        assert all(model in words or f"{model}," in words for model in offer.others)


def one(prefix: str, server: Server, *, ask: bool = True, **environ: str) -> Offer:
    (offer,) = list_offers(Catalogue(TABLE, {prefix: server}), environ, ask=ask, today=TODAY)
    return offer


def test_without_a_key_a_provider_says_which_it_needs_and_what_the_table_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    offer = one("openai", Server())
    assert (offer.state, offer.is_ready) == ("set OPENAI_API_KEY in the environment or in .env", False)
    assert offer.roles == ("openai/gpt-6.1-sol", "openai/gpt-6.1-terra", "openai/gpt-6.1-sol")
    by_name = {entry.model: entry for entry in offer.entries}
    assert by_name["openai/gpt-6.1-sol"] == Entry(
        "openai/gpt-6.1-sol", Decimal(2), Decimal(10), 922000, None, grows=True
    )
    assert by_name["openai/o3"].shutdown == date(2026, 12, 11)
    assert "openai/o1" not in by_name, "it was shut down"


def test_a_list_of_a_provider_decides_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(addresses.PROVIDER_HOSTS, "openai", "127.0.0.1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    there = ("gpt-6-luna", "gpt-6.1-sol", "some-thing", "gpt-5.2-2025-12-11", "gpt-5.1")
    ends = {"gpt-6-luna": "2027-03-01", "gpt-5.1": "2026-11-01"}
    with ReferenceServer(Settings(models=there, ends=ends)) as server:
        offer = one("openai", Server(server.base_url), OPENAI_API_KEY=KEY)
        assert offer.state == f"OPENAI_API_KEY is set; listed at {server.base_url}"
    assert [entry.model for entry in offer.entries] == [
        "openai/gpt-6.1-sol",
        "openai/gpt-6-luna",
        "openai/gpt-5.2-2025-12-11",
    ]
    assert offer.entries[1].shutdown == date(2027, 3, 1)
    assert offer.others == ("openai/some-thing",)


def test_a_server_of_ones_own_shows_all_that_it_lists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", KEY)
    table = TABLE.prefer({"lab/priced": {"input": 1, "output": 2}})
    with ReferenceServer(Settings(models=("new", "priced", "bad\x1b[31mname"), key=KEY)) as server:
        servers = {"lab": Server(server.base_url, "LAB_KEY", is_named=True)}
        (offer,) = list_offers(Catalogue(table, servers), {"LAB_KEY": KEY}, ask=True, today=TODAY)
    assert [entry.model for entry in offer.entries] == ["lab/priced", "lab/new", "lab/bad [31mname"]
    assert (offer.entries[1].input, offer.roles, offer.others) == (None, (), ())
    assert KEY not in "".join(render_offers([offer]))


def test_a_server_that_is_not_there_is_told_and_nothing_is_asked_where_that_is_not_wanted() -> None:
    with ReferenceServer() as server:
        named = Server(server.base_url, is_named=True)
        assert one("lab", named, ask=False).state == f"no key; at {server.base_url}, not asked"
        assert server.lines == []
    lost = f"no key; the list of models at {named.url} is not available (no server at"
    assert one("lab", named).state.startswith(lost)


def test_the_command_prints_plain_text_or_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SPCA_CODER_MODEL", "lab/m")
    monkeypatch.setenv("GEMINI_API_KEY", KEY)
    for variable in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "SPCA_PLANNER_MODEL", "ANTHROPIC_API_KEY"):
        monkeypatch.setenv(variable, "")
    argv = ["models", "--no-preflight", "--server", "lab=http://127.0.0.1:9/v1,LAB_KEY"]
    assert main.main(argv) == 0
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert KEY not in printed
    words = " ".join(printed.split())
    for said in (
        "google/ GEMINI_API_KEY is set; at https://",
        "lab/ set LAB_KEY in",
        "human/ editor or FOLDER",
        "coder lab/m.",
    ):
        assert said in words
    assert main.main([*argv, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["run"][2] == "lab/m"
    offers = {each["prefix"]: each for each in told["offers"]}
    assert list(offers) == ["openai", "anthropic", "google", "ollama", "lab"]
    assert [offers[name]["is_ready"] for name in ("google", "lab")] == [True, False]
    (flash,) = [each for each in offers["google"]["entries"] if each["model"] == "google/gemini-3.8-flash"]
    assert (flash["input"], flash["output"]) == (0.75, 3.75)


@pytest.mark.parametrize("flag", ["--server=lab", "--base-url=x", "--model-table=missing.json"])
def test_what_cannot_be_meant_is_one_line(flag: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main.main(["models", flag]) == EXIT_USER_ERROR
