"""The models of a run, their prices, and the check that all of them can be used."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final, Self

from spca.llm.calls.budget import Caps, require_caps
from spca.llm.catalogue.catalogue import Catalogue
from spca.runs.options import DEFAULT_MAX_COST
from spca.runs.settings import ModelSettings

_WITHOUT_SERVER: Final = "offline, --planner-model reference/planner takes the embedded model"


@dataclass(frozen=True, slots=True)
class Models:
    """The models of a run with their prices and providers.

    Attributes:
        settings: names of the models, and the servers where they are asked.
        catalogue: prices and providers of the models.
        cost_money: whether a model costs money, or may cost money because its price is unknown.
    """

    settings: ModelSettings
    catalogue: Catalogue
    cost_money: bool

    @classmethod
    def load(cls, settings: ModelSettings) -> Self:
        """Return the models that the settings name, with their prices from the model table.

        Raises:
            SettingsError: the model table cannot be read.
        """
        catalogue = Catalogue.load(settings.model_table, settings.servers)
        prices = [catalogue.price(ref) for ref in settings.refs]
        all_free = all(price and price.is_free for price in prices)
        return cls(settings, catalogue, cost_money=not all_free)

    def caps(self) -> Caps:
        """Return the caps on cost, requests and tokens of a run.

        Raises:
            UserError: see :func:`spca.llm.calls.budget.require_caps`.
        """
        return require_caps(self.settings.refs, self.catalogue, self.settings.caps, DEFAULT_MAX_COST)


def require_usable(settings: ModelSettings) -> tuple[Models, Caps]:
    """Check all models before a run pays for any; return the models and the caps of the run.

    A warning is printed if a model is shut down soon or cannot be looked up.

    Raises:
        UserError: a model does not exist, lacks a key, or is missing at its provider, or its cost cannot be capped.
    """
    models = Models.load(settings)
    for ref in settings.refs:
        models.catalogue.provider(ref)
    caps = require_caps(settings.refs, models.catalogue, settings.caps, DEFAULT_MAX_COST)
    warning = models.catalogue.find_warning(settings.refs, _WITHOUT_SERVER, is_asked=settings.preflight)
    if warning:
        print(f"warning: {warning}", file=sys.stderr, flush=True)
    return models, caps
