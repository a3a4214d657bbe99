"""``reference/planner`` and ``reference/coder``: the embedded model, as a provider like any other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from spca.llm.providers.base import Message, Request, Response, Target, Usage
from spca.reference import coder, planner

_ANSWERERS: Final[Mapping[str, Callable[[Sequence[Message]], str]]] = {"planner": planner.answer, "coder": coder.answer}

NO_TOKENS: Final = Usage(0, 0, 0, 0, 0)
"""The usage of models that are programs or persons."""


class ReferenceProvider:
    """Answers from the text of the messages alone, deterministically."""

    models: Final = tuple(_ANSWERERS)

    def __init__(self, _target: Target | None = None) -> None:
        pass

    def complete(self, request: Request) -> Response:
        answer = _ANSWERERS[request.model]
        return Response(answer(request.messages), NO_TOKENS)
