"""``replay/FOLDER``: the recorded answers of an earlier run; the folder is that of a run or of a packed example.

The folder of a run answers only calls with the same prompt. An example also answers unknown prompts, because the
prompts of the program may have changed since the example was recorded. The example answers an unknown prompt by its
turn, and the provider reports that the prompt differs.
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
    """Finds the recorded answer to a call by its prompt, whichever model the answer was recorded from.

    The prompt consists of messages, schema and parameters. In an example, the answer is also found by the turn of the
    call.

    Attributes:
        latency_s: seconds that the latest answer took when it was recorded, None before the first answer.
        differs: whether the latest answer was recorded for another prompt.

    Raises:
        ProviderConfigError: the folder contains no transcripts.
    """

    def __init__(self, target: Target) -> None:
        folder = Path(target.model)
        self.latency_s: float | None = None
        self.differs = False
        # os.path.isfile returns False for a path that is too long, where Path.is_file raises an error.
        is_example = os.path.isfile(folder / PACKED)
        try:
            recorded = unpack(folder / PACKED) if is_example else read_all(folder / FOLDER)
        except ResumeError as error:
            raise ProviderConfigError(f"replay/{target.model}: {error}") from error
        if not recorded:
            raise ProviderConfigError(
                f"{folder}: no transcripts in {FOLDER}/, and no {PACKED}: give the folder of a run or of a packed one"
            )
        self._by_prompt: dict[str, list[Transcript]] = {}
        for transcript in recorded:
            self._by_prompt.setdefault(transcript.prompt_key, []).append(transcript)
        self._by_turn: dict[Turn | None, Transcript] = dict(_number_turns(recorded)) if is_example else {}

    def complete(self, request: Request) -> Response:
        """Return the recorded answer to this prompt, or, in an example, the answer of this turn.

        Raises:
            ReplayMissError: the recording contains no answer for the request.
            BadAnswerError: the recorded provider could not read the answer either.
        """
        key = prompt_key(request)
        same_prompt = self._by_prompt.get(key, [])
        of_occurrence = same_prompt[request.occurrence] if request.occurrence < len(same_prompt) else None
        of_turn = self._by_turn.get(request.turn)

        # The best answer is that of the same turn and prompt, then that of the same prompt, then that of the turn.
        if of_turn and of_turn.prompt_key == key:
            transcript: Transcript | None = of_turn
        else:
            transcript = of_occurrence or of_turn
        if transcript is None:
            reason = self._explain_miss(request, key, is_known=bool(same_prompt))
            raise ReplayMissError(f"replay/{request.model}: {reason}")

        self.differs = transcript.prompt_key != key
        self.latency_s = transcript.latency_s
        return transcript.answer.get()

    def _explain_miss(self, request: Request, key: str, *, is_known: bool) -> str:
        """Return why the recording has no answer; ``is_known`` means that the prompt was recorded too few times."""
        turn = request.turn
        if self._by_turn and turn:
            level = f"{turn.category}/{turn.level} with seed {turn.seed}"
            call = f"the {turn.role} a {turn.number + 1}. time in {level}"
            return f"the recorded run did not ask {call}: replay it with the flags in about.json beside it"
        which_time = f"the {request.occurrence + 1}. time " if is_known else ""
        return (
            f"the run was not asked {which_time}what is asked now ({key[:8]}):"
            " replay it with its curriculum, seed and flags, with the version that recorded it"
        )


def _number_turns(recorded: Iterable[Transcript]) -> Iterator[tuple[Turn, Transcript]]:
    """Yield each transcript with its turn; number the turns of each role in each level from 0."""
    counts = Counter[Turn]()
    for transcript in recorded:
        numbered_turn = replace(transcript.turn, number=counts[transcript.turn])
        yield numbered_turn, transcript
        counts[transcript.turn] += 1
