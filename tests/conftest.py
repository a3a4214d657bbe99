"""What holds for every test: no keys, no network but loopback, reproducible properties under the profile "ci"."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import socket
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from tests.guard.sitecustomize import is_loopback

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from xdist.scheduler import LoadScopeScheduling

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True, database=None, print_blob=True, max_examples=20)
settings.load_profile("dev")

_PROVIDER_SETTINGS = ("_API_KEY", "_API_BASE", "_BASE_URL")
_OTHER_SETTINGS = ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_VERTEXAI", "OLLAMA_HOST", "OPENAI_ORG_ID")
_UNREACHABLE = "http://127.0.0.1:9"
"""The discard port: where the HTTP clients of child processes are sent for any host but loopback."""
_GUARD = Path(__file__).resolve().parent / "guard"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Keep what is collected out of garbage collection: it stays to the end, and going through it takes a second.

    What is left is gone through more rarely than usual, which took a twelfth of the time.
    """
    gc.disable()
    gc.set_threshold(50_000, 20, 20)
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> LoadScopeScheduling | None:
    """Let ``--dist loadfile`` give all tests of a folder to one process: what they share, such as a run, is made once.

    They come in their own order, in which browsers and whole programs are first: what is long does not come last.
    """
    if config.getoption("dist") != "loadfile":
        return None

    from xdist.scheduler import LoadScopeScheduling

    class Scheduling(LoadScopeScheduling):  # type: ignore[misc]  # xdist has no types
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            folder = file.rpartition("/")[0]
            return file if folder == "tests" else folder

    config.option.loadscopereorder = False
    return Scheduling(config, log)


@pytest.fixture(scope="session", autouse=True)
def no_provider_settings() -> Iterator[None]:
    """Clear every key and address of a model provider, ignore ``.env``, and keep child processes off the network.

    Nobody is trusted over TLS: every HTTP client would read all authorities of the system, which takes longest of all.
    """
    with pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.upper().endswith(_PROVIDER_SETTINGS) or name.startswith("SPCA_") or name in _OTHER_SETTINGS:
                patch.delenv(name)
        patch.setenv("PYTHON_DOTENV_DISABLED", "1")
        patch.setenv("SSL_CERT_FILE", str(_GUARD / "nobody.pem"))
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            patch.setenv(name, _UNREACHABLE)
            patch.setenv(name.upper(), _UNREACHABLE)
        for name in ("no_proxy", "NO_PROXY"):
            patch.setenv(name, "localhost,127.0.0.1,::1")
        yield


@pytest.fixture(scope="session", autouse=True)
def interruptible_children() -> None:
    """Undo what ``&`` (SIGINT) and ``nohup`` (SIGHUP) ignore: the programs that tests start would inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


@pytest.fixture
def termination_fails_the_test() -> Iterator[None]:
    """A signal to end, of which a program under test does nothing, fails the test: it would end pytest."""

    def fail(number: int, _frame: object) -> None:
        pytest.fail(f"{signal.Signals(number).name} is not handled")

    numbers = (signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, fail) for number in numbers}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session", autouse=True)
def loopback_only() -> Iterator[None]:
    """Fail a test that looks up or connects to anything but loopback, even where its errors are caught."""
    with pytest.MonkeyPatch.context() as patch:
        for method in ("connect", "connect_ex", "sendto"):
            patch.setattr(socket.socket, method, _guarded(getattr(socket.socket, method)))
        patch.setattr(socket, "getaddrinfo", _guarded_lookup(socket.getaddrinfo))
        yield


@pytest.fixture(scope="session", autouse=True)
def loopback_only_for_children(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The same for Python processes that tests start; what was refused to them fails the session at its end."""
    refused = tmp_path_factory.mktemp("guard") / "refused.txt"
    path = [str(_GUARD), *filter(None, [os.environ.get("PYTHONPATH")])]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", os.pathsep.join(path))
        patch.setenv("TESTS_REFUSED", str(refused))
        yield
    if refused.exists():
        pytest.fail(refused.read_text(encoding="utf-8"))


def _guarded(method: Callable[..., Any]) -> Callable[..., Any]:
    def call(sock: socket.socket, *args: Any) -> Any:
        # The address is the last argument of all of them.
        if sock.family in (socket.AF_INET, socket.AF_INET6) and not is_loopback(args[-1][0]):
            pytest.fail(f"a test may only reach loopback, not {args[-1]!r}")
        return method(sock, *args)

    return call


def _guarded_lookup(lookup: Callable[..., Any]) -> Callable[..., Any]:
    def call(host: str | bytes | None, *args: Any, **options: Any) -> Any:
        if host and not is_loopback(host):
            pytest.fail(f"a test may only look up loopback, not {host!r}")
        return lookup(host, *args, **options)

    return call


@pytest.fixture
def program() -> Callable[[str, str], str]:
    """``program(name, package)``: the path of an installed program.

    Where it is missing the test is skipped and says which Debian package to install; under CI=true it fails.
    """

    def find(name: str, package: str) -> str:
        if path := shutil.which(name):
            return path
        message = f"{name} is not installed: apt install {package}"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)

    return find


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """A browser, one for all tests of a process: Playwright allows no second one beside it."""
    from tests.support import browsing

    path = browsing.chromium()
    if path is None:
        message = f"no Chromium: apt install {browsing.PACKAGE}, or give its path in CHROMIUM"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    with browsing.browser(path) as started:
        yield started
