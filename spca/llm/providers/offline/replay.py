"""``replay/FOLDER``: the answers that a recorded run was given; the folder is a run's, or an example packed from one.

A run's own folder answers exactly the same calls, nothing else. An example outlives the prompts that it was recorded
with: a call that it does not know is answered by its turn, and the provider says that the prompt differs.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from spca.errors import ProviderConfigError, ReplayMissError, ResumeError
from spca.llm.calls.call_keys import prompt_key
from spca.llm.calls.packed import PACKED, unpack
from spca.llm.calls.transcripts import FOLDER, Transcript, read_all
from spca.llm.providers.base import Request, Response, Target, Turn


class ReplayProvider:
    """Finds a call by its messages, schema and parameters, whichever model was asked then, or else by its turn.

    Attributes:
        latency_s: seconds that the last answer took when it was recorded, None before the first.
        differs: the last answer was recorded for another prompt.

    Raises:
        ProviderConfigError: the folder holds no transcripts.
    """

    def __init__(self, target: Target) -> None:
        folder = Path(target.model)
        self.latency_s: float | None = None
        self.differs = False
        is_example = os.path.isfile(folder / PACKED)  # unlike Path, for names of any length
        try:
            recorded = unpack(folder / PACKED) if is_example else read_all(folder / FOLDER)
        except ResumeError as error:
            raise ProviderConfigError(f"replay/{target.model}: {error}") from error
        if not recorded:
            raise ProviderConfigError(
                f"{folder}: no transcripts in {FOLDER}/, and no {PACKED}: give the folder of a run or of a packed one"
            )
        self._calls: dict[str, list[Transcript]] = {}
        for transcript in recorded:
            self._calls.setdefault(transcript.prompt_key, []).append(transcript)
        self._turns: dict[Turn | None, Transcript] = dict(_number_turns(recorded)) if is_example else {}

    def complete(self, request: Request) -> Response:
        """Return the recorded answer for this prompt, or for this turn of an example.

        Raises:
            ReplayMissError: the recorded run was never asked that.
            BadAnswerError: its provider could not read the answer either.
        """
        key = prompt_key(request)
        calls = self._calls.get(key, [])
        turn = self._turns.get(request.turn)
        same = calls[request.occurrence] if request.occurrence < len(calls) else None

        if turn and turn.prompt_key == key:
            found: Transcript | None = turn
        else:
            found = same or turn
        if found is None:
            reason = self._explain_miss(request, key, is_known=bool(calls))
            raise ReplayMissError(f"replay/{request.model}: {reason}")

        self.differs = found.prompt_key != key
        self.latency_s = found.latency_s
        return found.answer.get()

    def _explain_miss(self, request: Request, key: str, *, is_known: bool) -> str:
        turn = request.turn
        if self._turns and turn:
            where = f"the {turn.role} a {turn.number + 1}. time in {turn.category}/{turn.level} with seed {turn.seed}"
            return f"the recorded run did not ask {where}: replay it with the flags in about.json beside it"
        told = f"the {request.occurrence + 1}. time " if is_known else ""
        return (
            f"the run was not asked {told}what is asked now ({key[:8]}):"
            " replay it with its curriculum, seed and flags, with the version that recorded it"
        )


def _number_turns(recorded: Iterable[Transcript]) -> Iterator[tuple[Turn, Transcript]]:
    seen = Counter[Turn]()
    for transcript in recorded:
        yield replace(transcript.turn, number=seen[transcript.turn]), transcript
        seen[transcript.turn] += 1
