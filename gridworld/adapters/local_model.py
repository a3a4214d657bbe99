"""Models of programs that serve them on one's own machine, with the arguments that MultiNet's adapters have."""

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
from spca.llm.providers.base import Limits
from spca.llm.providers.secrets import quoted


class LocalModel(LanguageModel):
    """A model behind ``base_url``, which alone is contacted: no key, no proxy of the environment, no redirect.

    Args:
        model: its name there.
        base_url: of the server.
        temperature: of sampling; 0.0 is as reproducible as the server can be.
        max_tokens: cap on each answer, thoughts included.
        timeout: seconds to wait for each answer.
        request_retries: how often a failed request is repeated.
        retry_sleep: seconds before that at most, unless the server asks for more.

    Attributes:
        flag: what its options on the command line begin with.
        sdk: the package that its provider needs.

    Raises:
        ModelError: ``base_url`` is no address of a server.
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
        # No key is ever sent, so that nobody can be billed.
        catalogue = Catalogue(ModelTable({f"{self.flag}/*": {"input": 0, "output": 0}}))
        policy = RetryPolicy(request_retries + 1, retry_sleep, retry_sleep)
        limits = Limits(max_tokens, temperature, timeout)
        super().__init__(ModelRef(self.flag, model), Asking(limits, policy=policy, catalogue=catalogue))

    @property
    def model_name(self) -> str:
        return f"{self.flag}_{self.model}"

    @property
    def address(self) -> str:
        """``base_url`` as it may be shown."""
        parts = urlsplit(self.base_url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2], query="", fragment="").geturl()

    def describe(self) -> Mapping[str, Any]:
        """Name, address without what is secret in it, parameters and version of the prompt."""
        return {**super().describe(), "model": self.model, "base_url": self.address}

    def failure(self, error: ProviderError) -> ModelError:
        """Return the error for a failed call: the evaluation goes on without this episode, unless no server answers."""
        return (ModelUnavailableError if self._connect().is_absent else ModelError)(self._describe_failure(error))

    def _connect(self) -> Any:
        try:
            importlib.import_module(self.sdk)
        except ImportError as error:
            raise missing_part(error, f"the {self.flag} model") from error
        return super()._connect()

    def _describe_model(self) -> str:
        return f"{self.model!a} at {self.address}"


def _checked_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    if not usable:
        raise ModelError(f"{quoted(address)!a} is not an address of a server; write http://HOST:PORT")
    return address.rstrip("/")
