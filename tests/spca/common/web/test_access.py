"""Who may ask the live server."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spca.common.web.access import LOOPBACK, Access, is_loopback

TOKEN = "k" * 43
HERE = Access(TOKEN, LOOPBACK)
ANYWHERE = Access(TOKEN, LOOPBACK | {"gpu-7"}, any_address=True)
HOST = {"host": "127.0.0.1:8000"}


@pytest.mark.parametrize(
    "rest", ["", "events", "piece/report", "piece/run/0/level/12", "piece//report", "..", "a/../b"]
)
def test_with_the_token_what_stands_below_it_is_handed_on_as_it_is(rest: str) -> None:
    assert HERE.path(f"/{TOKEN}/{rest}", HOST) == rest


def test_a_query_is_left_out() -> None:
    assert HERE.path(f"/{TOKEN}/piece/report?a=/b", HOST) == "piece/report"


@pytest.mark.parametrize(
    "target",
    [
        "",
        "*",
        "/",
        "//",
        f"/{TOKEN}",
        f"/{TOKEN}?/",
        TOKEN,
        f"{TOKEN}/",
        f"//{TOKEN}/",
        f"/./{TOKEN}/",
        f"/x/../{TOKEN}/",
        f"/{TOKEN[:-1]}/",
        f"/{TOKEN}k/",
        f"/{TOKEN.upper()}/",
        "/" + "%6b" * 43 + "/",
        f"/%2f{TOKEN}/",
        f"http://127.0.0.1:8000/{TOKEN}/",
        "/é/",
        "/\xff/",
    ],
)
def test_anything_else_says_nothing(target: str) -> None:
    assert HERE.path(target, HOST) is None


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_other_token_opens(token: str) -> None:
    assert HERE.path(f"/{token}/", HOST) is None or token == TOKEN or token.startswith(f"{TOKEN}/")


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1:8000", "localhost:8000", "LocalHost", "localhost.:8000", "[::1]:8000", "127.0.0.1", "localhost:9000"],
)
def test_names_of_this_machine(host: str) -> None:
    assert HERE.path(f"/{TOKEN}/", {"host": host}) == ""


@pytest.mark.parametrize(
    "host",
    [
        "",
        "evil.example",
        "evil.example:8000",
        "127.0.0.1.evil.example:8000",
        "localhost.evil.example",
        "localhost:8000@evil.example",
        "127.0.0.1:8000, evil.example",
        "127.0.0.1:port",
        "127.0.0.1:",
        "::1",
        "[::1",
        "0.0.0.0:8000",
        "10.0.0.1:8000",
        "2130706433",
        " localhost",
        "localhost\n",
    ],
)
def test_other_names_are_not_answered(host: str) -> None:
    assert HERE.path(f"/{TOKEN}/", {"host": host}) is None
    assert HERE.path(f"/{TOKEN}/", {}) is None


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("10.0.0.1:8000", True),
        ("[2001:db8::7]:8000", True),
        ("gpu-7:8000", True),
        ("localhost", True),
        ("evil.example", False),
        ("10.0.0.1.evil.example", False),
        ("gpu-7.evil.example", False),
    ],
)
def test_on_all_addresses_any_number_is_its_own_but_not_any_name(host: str, known: bool) -> None:
    assert (ANYWHERE.path(f"/{TOKEN}/", {"host": host}) == "") is known


@pytest.mark.parametrize(
    ("headers", "answered"),
    [
        ({}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "same-origin", "origin": "http://127.0.0.1:8000"}, True),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "anything"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "http://127.0.0.1:9000"}, False),
        ({"origin": "https://127.0.0.1:8000"}, False),
        ({"origin": "null"}, False),
    ],
)
def test_requests_that_another_site_makes_are_not_answered(headers: dict[str, str], answered: bool) -> None:
    for rest in ("", "piece/report", "events"):
        assert (HERE.path(f"/{TOKEN}/{rest}", HOST | headers) == rest) is answered


def test_a_link_on_another_site_may_open_the_page_and_nothing_else() -> None:
    followed = HOST | {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert HERE.path(f"/{TOKEN}/", followed) == ""
    assert HERE.path(f"/{TOKEN}/piece/report", followed) is None
    assert HERE.path(f"/{TOKEN}/", followed | {"sec-fetch-dest": "iframe"}) is None
    assert HERE.path(f"/{TOKEN}/", followed | {"sec-fetch-mode": "no-cors"}) is None


def test_loopback_is_told_from_other_addresses() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.8.9.1", "::1")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "192.168.0.1", "localhost", "")))  # noqa: S104  # an example
