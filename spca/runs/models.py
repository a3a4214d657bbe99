"""The models of a run, with what is known of them: what they cost, and whether they can be used."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Self

from spca.common.command import program
from spca.common.text import counted
from spca.llm.calls.budget import Caps, require_caps
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.lookup import Report
from spca.runs.default_models import list_configured
from spca.runs.options import DEFAULT_MAX_COST
from spca.runs.settings import ModelSettings

_WITHOUT_SERVER: Final = "offline, --planner-model reference/planner takes the embedded model"


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run, with what is known of them.

    Attributes:
        settings: which they are, and where.
        catalogue: what they cost, and who answers for them.
        cost_money: one of them is paid for, or may be.
    """

    settings: ModelSettings
    catalogue: Catalogue
    cost_money: bool

    @classmethod
    def load(cls, settings: ModelSettings) -> Self:
        """Return the models that the settings name; reads the model table.

        Raises:
            SettingsError: that table cannot be read.
        """
        catalogue = Catalogue.load(settings.model_table, settings.servers)
        prices = [catalogue.price(ref) for ref in settings.refs]
        return cls(settings, catalogue, not all(price and price.is_free for price in prices))

    def caps(self) -> Caps:
        """Return the caps of a run; see :func:`require_caps`."""
        return require_caps(self.settings.refs, self.catalogue, self.settings.caps, DEFAULT_MAX_COST)

    def greet(self, environ: Mapping[str, str], caps: Caps) -> str:
        """Return one line on which models a run uses, why, what caps can be reached, and how to choose others."""
        if self.settings.uses_reference:
            return (
                "Models: the embedded reference model (no key needed). "
                "For a real one: set OPENAI_API_KEY in .env or give --planner-model and --coder-model; "
                f"{program()} models lists what there is (docs/models.md)."
            )
        large, small, coder = self.settings.refs
        small_words = "" if small == large else f"small planner {small}, "
        parts = [f"Models: planner {large}, {small_words}coder {coder}"]
        used = {ref.prefix for ref in self.settings.refs}
        for prefix, server in self.settings.servers.items():
            if server.url and prefix in used:
                parts.append(f"{prefix} at {server.url}")
        if limits := self._list_limits(caps):
            parts.append(f"capped at {' and '.join(limits)}")
        found = list_configured(environ)
        also = [default.prefix for default in found[1:-1] if default.prefix not in used]
        if also and found[0].models == self.settings.refs:
            parts.append(f"{' and '.join(also)} could be used too (docs/models.md)")
        return "; ".join(parts) + "."

    def _list_limits(self, caps: Caps) -> list[str]:
        limits = []
        if caps.cost_usd is not None and self.cost_money:
            limits.append(f"{caps.cost_usd:g} USD")
        if caps.calls is not None:
            limits.append(counted(caps.calls, "request"))
        if caps.tokens is not None:
            limits.append(counted(caps.tokens, "token"))
        return limits


def look_up(settings: ModelSettings) -> Report:
    """Look up the models of a run at their providers."""
    return Models.load(settings).catalogue.look_up(settings.refs)


def require_usable(settings: ModelSettings) -> tuple[Models, Caps]:
    """Return the models of a run and its caps, once nothing speaks against paying them.

    Warns of what ends soon or cannot be looked up.

    Raises:
        UserError: a model does not exist or lacks a key, its cost cannot be capped, or it is missing at its provider.
    """
    models = Models.load(settings)
    for ref in settings.refs:
        models.catalogue.provider(ref)
    caps = require_caps(settings.refs, models.catalogue, settings.caps, DEFAULT_MAX_COST)
    warning = models.catalogue.find_warning(settings.refs, _WITHOUT_SERVER, is_asked=settings.preflight)
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    return models, caps
