"""The models of a run, with what is known of them: what they cost, and whether they can be used."""

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
