"""The command ``models``: list the models that can be used here."""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Parameter

from spca.runs.options import ServerOptions


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ModelsOptions:
    """Options of ``models``.

    Attributes:
        no_preflight: ask no server for its list
        json: print JSON
    """

    where: ServerOptions = ServerOptions()
    no_preflight: bool = False
    json: bool = False


def list_models(options: ModelsOptions = ModelsOptions()) -> int:
    """List the models that can be used here, with prices in USD per million tokens."""
    from spca.runs.model_list import print_models

    return print_models(options.where, asks=not options.no_preflight, as_json=options.json)
