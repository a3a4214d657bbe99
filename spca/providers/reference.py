"""``reference/planner`` and ``reference/coder``: the embedded model, behind the same door as any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from spca.errors import ProviderConfigError
from spca.providers.base import Message, Request, Response
from spca.reference import coder, planner

_HALVES: Final[Mapping[str, Callable[[Sequence[Message]], str]]] = {"planner": planner.answer, "coder": coder.answer}


class ReferenceProvider:
    """Answers from the text of the messages alone, deterministically."""

    models: Final = tuple(_HALVES)

    def complete(self, request: Request) -> Response:
        if request.model not in _HALVES:
            raise ProviderConfigError(f"unknown model reference/{request.model}")
        return Response(_HALVES[request.model](request.messages))
