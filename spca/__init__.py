"""Sense-Plan-Code-Act: the packages from which the top-level applications are built.

What a plugin needs can be imported from here: ``import spca``, then ``spca.Body`` or ``spca.GymnasiumWorld``; so can
:func:`load_policy`, which takes what was learned into a loop of one's own. A name is imported on its first use, so that
``import spca`` stays fast.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from spca.version import __version__

if TYPE_CHECKING:
    from spca.act.gymnasium_world import GymnasiumWorld
    from spca.body import Body, Budgets, Primitive, PromptParts, StateAttribute, StateKind, WordGroups
    from spca.contracts import LevelInfo, LevelSpec
    from spca.llm.providers.base import Response, Usage
    from spca.policy.learned_policy import LearnedPolicy
    from spca.policy.policy_loading import load_policy

__all__ = [
    "Body",
    "Budgets",
    "GymnasiumWorld",
    "LearnedPolicy",
    "LevelInfo",
    "LevelSpec",
    "Primitive",
    "PromptParts",
    "Response",
    "StateAttribute",
    "StateKind",
    "Usage",
    "WordGroups",
    "__version__",
    "load_policy",
]

_HOMES: Final = {
    "Body": "spca.body",
    "Budgets": "spca.body",
    "GymnasiumWorld": "spca.act.gymnasium_world",
    "LearnedPolicy": "spca.policy.learned_policy",
    "LevelInfo": "spca.contracts",
    "LevelSpec": "spca.contracts",
    "Primitive": "spca.body",
    "PromptParts": "spca.body",
    "Response": "spca.llm.providers.base",
    "StateAttribute": "spca.body",
    "StateKind": "spca.body",
    "Usage": "spca.llm.providers.base",
    "WordGroups": "spca.body",
    "load_policy": "spca.policy.policy_loading",
}
"""Public name -> the module that defines it."""


def __getattr__(name: str) -> Any:
    """Import a public name on its first use."""
    if name not in _HOMES:
        raise AttributeError(f"module 'spca' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
