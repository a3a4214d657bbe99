"""Test suites that every part of a kind passes, ours and those of plugins: derive a pytest class and give ``make``.

``docs/extending.md`` has an example of each. The suites need pytest, which a run does not need: it is imported on the
first use of a suite.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from spca.testing.executor_suite import ExecutorSuite
    from spca.testing.policy_suite import PolicySuite
    from spca.testing.provider_suite import ProviderSuite
    from spca.testing.world_suite import WorldSuite

__all__ = ["ExecutorSuite", "PolicySuite", "ProviderSuite", "WorldSuite"]

_HOMES: Final = {
    "ExecutorSuite": "spca.testing.executor_suite",
    "PolicySuite": "spca.testing.policy_suite",
    "ProviderSuite": "spca.testing.provider_suite",
    "WorldSuite": "spca.testing.world_suite",
}
"""Name of a suite -> the module that defines it."""


def __getattr__(name: str) -> Any:
    """Import a suite on its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spca.testing' has no attribute {name!r}")

    import pytest  # not needed by a run

    pytest.register_assert_rewrite(_HOMES[name])  # so that a promise that is not kept shows its values
    return getattr(import_module(_HOMES[name]), name)
