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

    def complete(self, request: Request) -> Response:
        half = _HALVES.get(request.model)
        if half is None:
            known = ", ".join(f"reference/{name}" for name in _HALVES)
            raise ProviderConfigError(f"unknown model reference/{request.model}: choose one of {known}")
        return Response(half(request.messages))
