"""Where every call of a model passes: answered from files, or sent, retried, paid for and written down."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from typing import Final

from spca.common.errors import BudgetReached
from spca.errors import (
    BadAnswerError,
    ProviderConfigError,
    ProviderDownError,
    ProviderError,
    TransientError,
    UnsupportedApiError,
    UnsupportedFormError,
)
from spca.llm.calls.budget import Caps
from spca.llm.calls.cache import Cache
from spca.llm.calls.ledger import Ledger, Outcome, Place, Record, estimate_prompt, measure_usage
from spca.llm.calls.retry import AGAIN, RetryPolicy
from spca.llm.calls.transcripts import Answer, Call, Transcripts, unsent
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Form, Provider, Request, Usage

_LOG: Final = logging.getLogger(__name__)

_WEAKER: Final = {Form.SCHEMA: Form.JSON, Form.JSON: Form.TEXT}


@dataclass(frozen=True, slots=True)
class Answered:
    """A call's answer and where it came from: "model", "cache", or "resumed" (an earlier process of the same run).

    ``records`` are the requests sent for it, in order; ``transcript`` names its file, "" where none is kept.
    """

    call: Call
    answer: Answer
    source: str
    records: tuple[Record, ...]
    transcript: str


class CallDesk:
    """All calls of a run; without a folder nothing is kept but the records, in memory.

    Args:
        folder: the run's folder.
        run: stamped on every record.
        caps: checked before every request.
        catalogue: providers and prices; by default the built-in ones.
        cache: answers of earlier runs.
        notify: told in one line whenever a request is about to be sent again.
        policy: when that is done.
        sleep: waits that many seconds.
        asked_anew: roles that are not served what the first so many calls of the run were answered.

    Attributes:
        step_aside: entered while a model needs the terminal.
        waiting: entered with role and model while a model is waited for, pauses between requests included.
    """

    def __init__(
        self,
        folder: Path | None = None,
        run: str = "",
        *,
        caps: Caps = Caps(),
        catalogue: Catalogue | None = None,
        cache: Cache | None = None,
        notify: Callable[[str], None] = lambda _line: None,
        policy: RetryPolicy = RetryPolicy(),
        sleep: Callable[[float], None] = time.sleep,
        asked_anew: Mapping[str, int] | None = None,
    ) -> None:
        self.catalogue = catalogue or Catalogue()
        self._transcripts = Transcripts(folder, asked_anew)
        self.ledger = Ledger(folder, self._recovered)
        self.notify = notify
        self.step_aside: Callable[[], AbstractContextManager[object]] = nullcontext
        self.waiting: Callable[[str, str], AbstractContextManager[object]] = lambda _role, _model: nullcontext()
        self._caps = caps
        self._cache = cache
        self._policy = policy
        self._sleep = sleep
        self._place = Place(run)
        self._forms: dict[ModelRef, Form] = {}
        self._rng = random.Random()  # noqa: S311  # spreads clients over time

    def begin_level(self, index: int, category: str, level: str, seed: int) -> None:
        """Calls from now on belong to this level; what an earlier process was answered in it is not asked again."""
        self._place = Place(self._place.run, index, category, level, seed)
        self._transcripts.begin_level(index)

    @property
    def calls_finished(self) -> int:
        """How many calls of the run were answered, by any of its processes."""
        return self._transcripts.count

    def noting_rounds(self, progress: Callable[[int, str], None]) -> Callable[[int, str], None]:
        """``progress``, which gets rounds and phases, with the present round noted for the ledger."""

        def noting(number: int, phase: str) -> None:
            self._place = replace(self._place, round=number)
            progress(number, phase)

        return noting

    def ask(
        self, provider: Provider, model: ModelRef, request: Request, *, phase: str = "", mode: str = ""
    ) -> Answered:
        """One call.

        Args:
            model: for ledger and keys.
            phase, mode: who asks and why.

        Raises:
            BudgetReached: a cap was reached before an answer came.
            ProviderDownError: no answer came after all retries.
            ProviderConfigError: the model cannot be asked.
            ProviderError: the provider failed in another way.
        """
        place = replace(self._place, phase=phase, mode=mode)
        call = self._transcripts.call(model, replace(request, phase=phase), place)
        done = self._transcripts.finished(call)
        if done is not None:
            _LOG.debug("%s: the answer to an earlier process is used: %s", model, done.name)
            return Answered(call, done.answer, "resumed", (), done.name)
        name = self._transcripts.name(call, place)
        kept = self._cache.get(call) if self._cache else None
        if kept is not None:
            _LOG.debug("%s: the answer is taken from the cache", model)
            self._transcripts.write(call, unsent(call, place, name), kept, "cache")
            return Answered(call, kept, "cache", (), name)
        first = len(self.ledger.records)
        with self.waiting(phase, str(model)):
            answer = self._sent(provider, call, place, name)
        return Answered(call, answer, "model", tuple(self.ledger.records[first:]), name)

    def accept(self, answered: Answered) -> None:
        """The answer was of the form asked for: it may be served to the same call again."""
        if self._cache and answered.source == "model":
            self._cache.put(answered.call, answered.answer)

    def reject(self, answered: Answered) -> None:
        """The answer was bad: when the same is asked again in this run, a model is asked."""
        if self._cache:
            self._cache.bypass(answered.call)

    def _sent(self, provider: Provider, call: Call, place: Place, name: str) -> Answer:
        """Ask in the strongest form that the model is known to understand, weakening it when it does not."""
        first = len(self.ledger.records)
        while True:
            form = self._forms.get(call.model, call.request.form)
            asked = replace(call, request=replace(call.request, form=form))
            try:
                return self._retried(provider, asked, place, name, first)
            except UnsupportedApiError as error:
                _LOG.info("asks in another way: %s", error)
            except UnsupportedFormError as error:
                if form not in _WEAKER:
                    raise ProviderConfigError(
                        f"{call.model}: the server refused every form of answer: {error}"
                    ) from error
                self._forms[call.model] = _WEAKER[form]
                _LOG.info("asks for the form %s: %s", _WEAKER[form], error)

    def _retried(self, provider: Provider, call: Call, place: Place, name: str, first: int) -> Answer:
        """Ask until an answer comes; ``first`` requests were sent before the call's own."""
        failed = 0
        while True:
            self._caps.check(self.ledger.records, self.catalogue)
            try:
                return self._once(provider, call, place, len(self.ledger.records) - first + 1, name)
            except TransientError as error:
                failed += 1
                wait = self._policy.wait(failed, error, self._rng)
                if wait is None:
                    _LOG.info("gives up after %d failures: %s", failed, error)
                    too_long = (error.retry_after or 0) > self._policy.longest_s
                    raise ProviderDownError(_given_up(error, failed, too_long)) from error
                self._check_before_waiting(error)
                _LOG.info("waits %.1f s before request %d of this call: %s", wait, failed + 1, error)
                self.notify(f"{error}{AGAIN} {wait:.0f} s ({failed + 1} of {self._policy.attempts})")
                self._sleep(wait)

    def _check_before_waiting(self, error: TransientError) -> None:
        try:
            self._caps.check(self.ledger.records, self.catalogue)
        except BudgetReached as reached:
            raise BudgetReached(f"{reached}; the last one was not answered: {error}", reached.flag) from reached

    def _once(self, provider: Provider, call: Call, place: Place, attempt: int, name: str) -> Answer:
        """One request: its intent, its answer's file, its end in the ledger, in that order."""
        form = call.request.form.value if call.request.schema else ""
        record = Record(self.ledger.next_number, place, attempt, call.model, form, call.key, round(time.time(), 3))
        # The cost is known beforehand where the model is free.
        record = replace(record, asked_tokens=estimate_prompt(call.request), cost=self._cost(record, Usage()))
        self.ledger.begin(record)
        _LOG.debug("request %d: asks %s for %s", record.number, call.model, call.request.phase or "an answer")
        started = time.perf_counter()
        estimated = False
        try:
            with self.step_aside() if getattr(provider, "at_terminal", False) else nullcontext():
                response = provider.complete(call.request)
            usage, estimated = measure_usage(call.request, response)
            answer = Answer(replace(response, usage=usage))
        except BadAnswerError as error:
            answer = Answer(None, str(error))
        except BaseException as error:  # whatever ends a request, its record must be closed
            seconds = round(time.perf_counter() - started, 4)
            _LOG.debug("request %d: %s after %.1f s", record.number, type(error).__name__, seconds)
            self.ledger.end(_failed(record, seconds, error))
            raise
        seconds = round(time.perf_counter() - started, 4)
        _LOG.debug("request %d: answered after %.1f s", record.number, seconds)
        differs = bool(getattr(provider, "differs", False))
        record = replace(record, latency_s=seconds, transcript=name, estimated=estimated, differs=differs)
        return self._finish(call, self._paid(record, answer), answer)

    def _paid(self, record: Record, answer: Answer) -> Record:
        """Return the record with what came back and its cost. An unreadable answer may be billed like any other."""
        usage = answer.response.usage if answer.response else Usage()
        outcome = Outcome.ANSWERED if answer.response else Outcome.LOST
        return replace(record, usage=usage, cost=self._cost(record, usage), outcome=outcome, error=answer.error)

    def _cost(self, record: Record, usage: Usage) -> Decimal | None:
        """USD by the prices of the day on which the request was sent."""
        price = self.catalogue.price(record.model, record.started)
        return price.cost(usage) if price else None

    def _finish(self, call: Call, record: Record, answer: Answer) -> Answer:
        try:
            self._transcripts.write(call, record, answer, "model")
        except BaseException:  # a full disk or an interrupt: the request was answered all the same
            self.ledger.end(replace(record, transcript=""))
            raise
        self.ledger.end(record)
        return answer

    def _recovered(self, record: Record) -> Record:
        """The record of a request that a dead process had in flight: answered if its file was already written."""
        transcript = self._transcripts.of_request(record.number)
        fate = "unknown" if transcript is None else f"answered in {transcript.name}"
        _LOG.info("request %d was in flight when its process died: %s", record.number, fate)
        if transcript is None:
            return record
        known = replace(record, transcript=transcript.name, estimated=transcript.estimated)
        return self._paid(replace(known, latency_s=transcript.latency_s), transcript.answer)


def _failed(record: Record, seconds: float, error: BaseException) -> Record:
    if not isinstance(error, ProviderError):
        # Interrupted, or a defect of ours: whether the server has worked for it is not known.
        return replace(record, latency_s=seconds, outcome=Outcome.UNKNOWN, error=type(error).__name__)
    status = error.status if isinstance(error, TransientError) else None
    failed = replace(record, latency_s=seconds, status=status, error=str(error))
    if isinstance(error, TransientError) and error.lost:  # it may cost as much as it was begun with
        return replace(failed, outcome=Outcome.LOST)
    return replace(failed, outcome=Outcome.REJECTED, cost=Decimal(0))


def _given_up(error: TransientError, failed: int, too_long: bool) -> str:
    if too_long:
        return f"{error}; it asks to wait {error.retry_after:.0f} s"
    return f"{error} ({failed} times in a row)" if failed > 1 else str(error)
