"""Base class for models on a server of the user. The arguments are those of MultiNet's adapters."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import urlsplit

from gridworld.adapters.asking import Asking
from gridworld.adapters.language_model import LanguageModel
from gridworld.errors import ModelError, ModelUnavailableError, missing_part
from spca.errors import ProviderError
from spca.llm.calls.retry import RetryPolicy
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.catalogue.model_table import ModelTable
from spca.llm.providers.base import RequestOptions
from spca.llm.providers.secrets import quote_line


class LocalModel(LanguageModel):
    """A model on the server at ``base_url``.

    Only this server is contacted. No key is sent. Redirects, and proxies that the environment names, are ignored.

    Args:
        model: name of the model on the server.
        base_url: address of the server.
        temperature: sampling temperature; 0.0 is as reproducible as the server allows.
        max_tokens: cap on each answer in tokens, thoughts included.
        timeout: seconds to wait for each answer.
        request_retries: how often a failed request is repeated.
        retry_sleep: longest wait in seconds before a repeated request, unless the server demands a longer wait.

    Attributes:
        flag: prefix of the model's command-line options, such as "ollama" for ``--ollama-url``.
        sdk: Python package that the provider needs.

    Raises:
        ModelError: ``base_url`` is not the address of a server.
    """

    flag: ClassVar[str]
    sdk: ClassVar[str]
    waits_for_server = False

    def __init__(
        self,
        model: str,
        base_url: str,
        temperature: float = 0.0,
        max_tokens: int = 4096,
        timeout: float = 600,
        request_retries: int = 1,
        retry_sleep: float = 5.0,
    ) -> None:
        self.model = model
        self.base_url = _checked_address(base_url)
        # Without a key, no request can be billed, so every price is 0.
        catalogue = Catalogue(ModelTable({f"{self.flag}/*": {"input": 0, "output": 0}}))
        policy = RetryPolicy(request_retries + 1, retry_sleep, retry_sleep)
        limits = RequestOptions(max_tokens, temperature, timeout)
        super().__init__(ModelRef(self.flag, model), Asking(limits, policy=policy, catalogue=catalogue))

    @property
    def model_name(self) -> str:
        return f"{self.flag}_{self.model}"

    @property
    def address(self) -> str:
        """``base_url`` without its password, query and fragment, because they may be secret."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    def describe(self) -> Mapping[str, Any]:
        """Return the name, the address without secrets, the parameters and the version of the prompt."""
        return {**super().describe(), "model": self.model, "base_url": self.address}

    def failure(self, error: ProviderError) -> ModelError:
        """Return the error to raise for a failed request.

        If no connection could be made, the error ends the evaluation. Any other error ends only the episode.
        """
        kind = ModelUnavailableError if self._connect().is_absent else ModelError
        return kind(self._describe_failure(error))

    def _connect(self) -> Any:
        try:
            importlib.import_module(self.sdk)
        except ImportError as error:
            raise missing_part(error, f"the {self.flag} model") from error
        return super()._connect()

    def _describe_model(self) -> str:
        return f"{self.model!a} at {self.address}"


def _checked_address(address: str) -> str:
    """Return an HTTP address without its final slash; raise a :class:`ModelError` if it is not an HTTP address."""
    try:
        parts = urlsplit(address)
        _ = parts.port  # raises a ValueError unless the port is a number from 0 to 65535
        is_address = parts.scheme in ("http", "https") and bool(parts.hostname)
    except ValueError:
        is_address = False
    if not is_address:
        raise ModelError(f"{quote_line(address)!a} is not an address of a server; write http://HOST:PORT")
    return address.rstrip("/")
