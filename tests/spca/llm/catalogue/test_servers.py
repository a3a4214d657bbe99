"""Servers of the user's own: how they are given, and what is sent to them."""

from __future__ import annotations

import re

import pytest

from spca.common.errors import SettingsError
from spca.common.redaction import HIDDEN, redact
from spca.errors import ProviderConfigError, TransientError
from spca.llm.catalogue.catalogue import PROVIDERS
from spca.llm.catalogue.servers import (
    Server,
    find_address_fault,
    format_servers,
    is_providers_own,
    parse_servers,
)
from spca.llm.providers.base import Message, Request, Response, Target
from spca.llm.providers.openai.openai import OpenAIProvider
from tests.fakes.faults import FaultServer, answering
from tests.fakes.openai_wire import CHAT
from tests.support.spca.call_requests import provider_for

LAB = Server("http://host:8000/v1", "LAB_KEY", is_named=True)
OPEN = Server("http://host:9000/v1", is_named=True)


def test_a_server_is_given_by_flag_or_in_a_list() -> None:
    both = {"lab": LAB, "my-2_box": OPEN}
    flags = ["lab=http://host:8000/v1,LAB_KEY", "my-2_box=http://host:9000/v1"]
    assert parse_servers(flags, "") == both
    assert parse_servers((), "lab=http://host:8000/v1|LAB_KEY, my-2_box=http://host:9000/v1,") == both
    assert parse_servers((), format_servers(both) or "") == both
    assert parse_servers((), "") == {}
    assert format_servers({"openai": Server("http://x/v1")}) is None


def test_a_flag_goes_before_the_list() -> None:
    assert parse_servers(["lab=http://host:8000/v1|LAB_KEY"], "lab=http://old/v1") == {"lab": LAB}


@pytest.mark.parametrize("name", [*PROVIDERS])
def test_a_prefix_that_is_known_is_no_name(name: str) -> None:
    with pytest.raises(SettingsError, match=rf"^--server {name}: "):
        parse_servers([f"{name}=http://host/v1"], "")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("http://host/v1", "--server: a server is given as NAME=URL or NAME=URL,KEY_VARIABLE"),
        ("Lab=http://host/v1", "--server: a server is given as NAME=URL"),
        ("a/b=http://host/v1", "--server: a server is given as NAME=URL"),
        ("=http://host/v1", "--server: a server is given as NAME=URL"),
        ("lab", "--server: a server is given as NAME=URL"),
        ("lab=", "--server lab: an address looks like"),
        ("lab=http://h/\x1b[2J", "--server lab http://h/\x1b[2J: an address looks like"),
        ("lab=secret", "--server lab: an address looks like"),
        ("lab=host:8000", "--server lab host:8000: an address looks like"),
        ("lab=http://host/v1,", "--server lab: after its address comes the variable"),
        ("lab=http://host/v1,sk-secret", "--server lab: after its address comes the variable"),
        ("lab=http://host/v1,secret", "--server lab: after its address comes the variable"),
        ("lab=http://host/v1,A,B", "--server lab: after its address comes the variable"),
        ("lab=http://me:secret@host/v1", "--server lab: an address holds no name, password"),
        ("lab=http://host/v1?key=secret", "--server lab: an address holds no name, password"),
    ],
)
def test_what_cannot_be_meant_is_one_line_without_a_key(text: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_servers([text], "")
    assert str(caught.value).startswith(said)
    assert "secret" not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_key_in_the_place_of_an_address_is_not_repeated() -> None:
    assert find_address_fault("OPENAI_BASE_URL", "sk-0123456789").startswith(f"OPENAI_BASE_URL {HIDDEN}: an address")


def test_two_servers_have_two_names() -> None:
    with pytest.raises(SettingsError, match=r"^SPCA_SERVERS lab: two servers have this name"):
        parse_servers((), "lab=http://a/v1,lab=http://b/v1")


def ask(server: Server) -> Response:
    provider, name = provider_for("lab/m", servers={"lab": server})
    return provider.complete(Request(name, (Message("user", "?"),)))


def test_no_key_of_a_provider_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_ADMIN_KEY"):
        monkeypatch.setenv(variable, f"not-for-others-{variable}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: not-for-others\nX-Gate: not-for-others")
    monkeypatch.setenv("LAB_KEY", "only-for-the-lab")
    with FaultServer(CHAT) as lab:
        ask(Server(lab.base_url, is_named=True))
        ask(Server(lab.base_url, "LAB_KEY", is_named=True))
        OpenAIProvider(Target("m", lab.base_url, is_open=True)).complete(Request("m", (Message("user", "?"),)))
        headers = [asked.headers for asked in lab.posted]
    assert [each["authorization"] for each in headers] == ["Bearer none", "Bearer only-for-the-lab", "Bearer none"]
    assert not any("not-for-others" in value for each in headers for value in each.values())


def test_a_key_that_is_named_is_needed_and_never_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAB_KEY", raising=False)
    with pytest.raises(ProviderConfigError, match=r"lab/m: set LAB_KEY in the environment or in \.env"):
        provider_for("lab/m", servers={"lab": LAB})
    monkeypatch.setenv("LAB_KEY", "a plain word of the lab")
    provider_for("lab/m", servers={"lab": LAB})
    assert redact("it said a plain word of the lab") == f"it said {HIDDEN}"


def test_a_key_that_a_server_repeats_goes_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_WORD", "only-for-the-lab")
    with FaultServer(CHAT) as lab:
        named = Server(lab.base_url, "LAB_WORD", is_named=True)
        lab.reply = answering(CHAT, "You sent only-for-the-lab.")
        assert ask(named).text == f"You sent {HIDDEN}."
        lab.reply = CHAT.refused(401, "only-for-the-lab is no key of ours", "invalid_api_key")
        with pytest.raises(ProviderConfigError, match="check LAB_WORD") as caught:
            ask(named)
    assert "only-for-the-lab" not in str(caught.value)


def test_proxies_of_the_environment_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    with FaultServer(CHAT) as proxy:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("http_proxy", proxy.url)
        ask(Server("http://lab.invalid/v1", is_named=True))
        (asked,) = proxy.posted
    assert asked.path == "http://lab.invalid/v1/chat/completions"


@pytest.mark.parametrize("prefix", ["openai", "anthropic", "google"])
def test_a_provider_that_cannot_be_reached_is_a_question_of_the_network(
    monkeypatch: pytest.MonkeyPatch, prefix: str
) -> None:
    monkeypatch.setenv(f"{prefix.upper()}_API_KEY", "k")
    for variable in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    for url, fix in ((None, "is this machine online? "), ("http://127.0.0.1:9", "is the server running?")):
        provider, name = provider_for(f"{prefix}/m", servers={prefix: Server(url)})
        with pytest.raises(TransientError, match=rf"^{prefix}/m: no server at http\S+ \(.*\): {re.escape(fix)}"):
            provider.complete(Request(name, (Message("user", "?"),)))


def test_a_prefix_that_nobody_knows_tells_how_to_add_it() -> None:
    with pytest.raises(ProviderConfigError, match=r"unknown model 'lab/m': .*--server NAME=URL\[,KEY_VARIABLE\] adds"):
        provider_for("lab/m")
    with pytest.raises(ProviderConfigError, match="lacks the name of a model after lab/"):
        provider_for("lab/", servers={"lab": OPEN})


def test_no_server_of_ones_own_is_a_providers_own() -> None:
    assert not is_providers_own("lab", LAB.url)
