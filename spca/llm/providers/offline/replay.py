"""``replay/RUN_FOLDER``: the answers that a recorded run was given, for exactly the same calls."""

from __future__ import annotations

from pathlib import Path

from spca.errors import ProviderConfigError, ReplayMissError, ResumeError
from spca.llm.calls.call_keys import prompt_key
from spca.llm.calls.transcripts import FOLDER, Transcript, read_all
from spca.llm.providers.base import Request, Response, Target


class ReplayProvider:
    """Finds a call by its messages, schema and parameters, whichever model was asked then.

    Attributes:
        latency_s: seconds that the last answer took when it was recorded, None before the first.

    Raises:
        ProviderConfigError: the folder holds no transcripts.
    """

    def __init__(self, target: Target) -> None:
        self._folder = Path(target.model)
        self.latency_s: float | None = None
        try:
            recorded = read_all(self._folder / FOLDER)
        except ResumeError as error:
            raise ProviderConfigError(f"replay/{target.model}: {error}") from error
        if not recorded:
            raise ProviderConfigError(
                f"replay/{target.model}: no transcripts in {self._folder / FOLDER}: give the folder of a run"
            )
        self._calls: dict[str, list[Transcript]] = {}
        for transcript in recorded:
            self._calls.setdefault(transcript.prompt_key, []).append(transcript)

    def complete(self, request: Request) -> Response:
        """The answer to the call's same occurrence.

        Raises:
            ReplayMissError: the recorded run was never asked that.
            BadAnswerError: its provider could not read the answer either.
        """
        key = prompt_key(request)
        calls = self._calls.get(key, [])
        if request.occurrence >= len(calls):
            told = f"the {request.occurrence + 1}. time " if calls else ""
            raise ReplayMissError(
                f"replay/{request.model}: the run was not asked {told}what is asked now ({key[:8]}):"
                " replay it with its curriculum, seed and flags, with the version that recorded it"
            )
        self.latency_s = calls[request.occurrence].latency_s
        return calls[request.occurrence].answer.get()
