"""The desk that every call of a model passes: answers calls from files, or sends, retries, prices and records them."""

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
from spca.llm.calls.ledger import Ledger, Place, Record, RequestOutcome, estimate_prompt, measure_usage
from spca.llm.calls.retry import AGAIN, RetryPolicy
from spca.llm.calls.transcripts import Answer, Call, Transcripts, unsent
from spca.llm.catalogue.catalogue import Catalogue
from spca.llm.catalogue.model_ref import ModelRef
from spca.llm.providers.base import Form, Provider, Request, Usage

_LOG: Final = logging.getLogger(__name__)

_WEAKER: Final = {Form.SCHEMA: Form.JSON, Form.JSON: Form.TEXT}


@dataclass(frozen=True, slots=True)
class Answered:
    """A call with its answer.

    Attributes:
        source: where the answer came from: "model", "cache", or "resumed" (an earlier process of the same run).
        records: the requests that were sent for the call, in order.
        transcript: name of the transcript file, relative to the run's folder; "" if no transcript is kept.
    """

    call: Call
    answer: Answer
    source: str
    records: tuple[Record, ...]
    transcript: str


class CallDesk:
    """Handles all calls of a run.

    Args:
        folder: the run's folder; without a folder only the records are kept, in memory.
        run: id of the run, for the records.
        caps: checked before every request.
        catalogue: providers and prices; by default the built-in catalogue.
        cache: answers of earlier runs.
        notify: called with one line before a request is repeated.
        policy: when a failed request is repeated.
        sleep: function that waits a number of seconds.
        asked_anew: role -> ``n``: for calls of this role, recorded answers to the first ``n`` calls of the run are not
            reused; an earlier process recorded these answers.

    Attributes:
        step_aside: returns the context manager that is active while a model needs the terminal.
        waiting: given role and model, returns the context manager that is active while the model works, including the
            pauses between repeated requests.
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
        self.ledger = Ledger(folder, self._recover)
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
        """Assign the following calls to a level; answers that an earlier process got in this level are reused.

        Args:
            index: number of the level in the run, from 1.
        """
        self._place = Place(self._place.run, index, category, level, seed)
        self._transcripts.begin_level(index)

    @property
    def calls_finished(self) -> int:
        """Number of answered calls of the run, including those of earlier processes."""
        return self._transcripts.count

    def noting_rounds(self, progress: Callable[[int, str], None]) -> Callable[[int, str], None]:
        """Return a function of (round, phase) that notes the round for the following calls, then calls ``progress``."""

        def note_round(number: int, phase: str) -> None:
            self._place = replace(self._place, round=number)
            progress(number, phase)

        return note_round

    def ask(
        self, provider: Provider, model: ModelRef, request: Request, *, phase: str = "", mode: str = ""
    ) -> Answered:
        """Answer one call: from an earlier process of the run, else from the cache, else by asking the model.

        Args:
            model: name of the model, for ledger and keys.
            phase: role that asks, such as "planner".
            mode: purpose of the call.

        Raises:
            BudgetReached: a cap was reached before an answer came.
            ProviderDownError: no answer came after all retries.
            ProviderConfigError: the model cannot be asked.
            ProviderError: the provider failed in another way.
        """
        place = replace(self._place, phase=phase, mode=mode)
        call = self._transcripts.call(model, replace(request, phase=phase), place)
        finished = self._transcripts.find_finished(call)
        if finished is not None:
            _LOG.debug("%s: the answer to an earlier process is used: %s", model, finished.name)
            return Answered(call, finished.answer, "resumed", (), finished.name)
        name = self._transcripts.name(call, place)
        cached = self._cache.get(call) if self._cache else None
        if cached is not None:
            _LOG.debug("%s: the answer is taken from the cache", model)
            self._transcripts.write(call, unsent(call, place, name), cached, "cache")
            return Answered(call, cached, "cache", (), name)
        earlier_requests = len(self.ledger.records)
        with self.waiting(phase, str(model)):
            answer = self._send(provider, call, place, name)
        records = tuple(self.ledger.records[earlier_requests:])
        return Answered(call, answer, "model", records, name)

    def accept(self, answered: Answered) -> None:
        """Put an answer of the requested form into the cache if the answer came from a model."""
        if self._cache and answered.source == "model":
            self._cache.put(answered.call, answered.answer)

    def reject(self, answered: Answered) -> None:
        """Keep the cache from answering this call again in this run, because the answer was bad."""
        if self._cache:
            self._cache.bypass(answered.call)

    def _send(self, provider: Provider, call: Call, place: Place, name: str) -> Answer:
        """Ask for the strongest form of answer that the server has not refused; weaken the form after a refusal.

        The server's refusals are remembered for all later calls of the model.
        """
        earlier_requests = len(self.ledger.records)
        while True:
            form = self._forms.get(call.model, call.request.form)
            asked = replace(call, request=replace(call.request, form=form))
            try:
                return self._send_with_retries(provider, asked, place, name, earlier_requests)
            except UnsupportedApiError as error:
                _LOG.info("asks in another way: %s", error)
            except UnsupportedFormError as error:
                if form not in _WEAKER:
                    raise ProviderConfigError(
                        f"{call.model}: the server refused every form of answer: {error}"
                    ) from error
                self._forms[call.model] = _WEAKER[form]
                _LOG.info("asks for the form %s: %s", _WEAKER[form], error)

    def _send_with_retries(
        self, provider: Provider, call: Call, place: Place, name: str, earlier_requests: int
    ) -> Answer:
        """Send the call until an answer comes or the retries are used up.

        Args:
            earlier_requests: number of requests in the ledger that were sent for other calls.
        """
        failed = 0
        while True:
            self._caps.check(self.ledger.records, self.catalogue)
            attempt = len(self.ledger.records) - earlier_requests + 1
            try:
                return self._send_once(provider, call, place, attempt, name)
            except TransientError as error:
                failed += 1
                wait = self._policy.wait(failed, error, self._rng)
                if wait is None:
                    _LOG.info("gives up after %d failures: %s", failed, error)
                    too_long = (error.retry_after or 0) > self._policy.longest_s
                    raise ProviderDownError(_describe_giving_up(error, failed, too_long)) from error
                self._check_before_waiting(error)
                _LOG.info("waits %.1f s before request %d of this call: %s", wait, failed + 1, error)
                progress = f"({failed + 1} of {self._policy.attempts})"
                self.notify(f"{error}{AGAIN} {wait:.0f} s {progress}")
                self._sleep(wait)

    def _check_before_waiting(self, error: TransientError) -> None:
        """Raise BudgetReached if a cap forbids the next request, so that the run does not wait in vain."""
        try:
            self._caps.check(self.ledger.records, self.catalogue)
        except BudgetReached as reached:
            raise BudgetReached(f"{reached}; the last one was not answered: {error}", reached.flag) from reached

    def _send_once(self, provider: Provider, call: Call, place: Place, attempt: int, name: str) -> Answer:
        """Send one request; write its intent, the transcript of its answer and its end to disk, in this order."""
        form = call.request.form.value if call.request.schema else ""
        now = round(time.time(), 3)
        record = Record(self.ledger.next_number, place, attempt, call.model, form, call.key, now)
        cost_if_free = self._cost(record, Usage())  # None unless the model is free
        record = replace(record, asked_tokens=estimate_prompt(call.request), cost=cost_if_free)
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
        except BaseException as error:  # an interrupt too: the record must be closed however the request ends
            seconds = round(time.perf_counter() - started, 4)
            _LOG.debug("request %d: %s after %.1f s", record.number, type(error).__name__, seconds)
            self.ledger.end(_record_failure(record, seconds, error))
            raise
        seconds = round(time.perf_counter() - started, 4)
        _LOG.debug("request %d: answered after %.1f s", record.number, seconds)
        differs = bool(getattr(provider, "differs", False))
        record = replace(record, latency_s=seconds, transcript=name, estimated=estimated, differs=differs)
        return self._finish(call, self._paid(record, answer), answer)

    def _paid(self, record: Record, answer: Answer) -> Record:
        """Return the record with outcome, usage and cost of an answer; an unreadable answer counts as lost."""
        usage = answer.response.usage if answer.response else Usage()
        outcome = RequestOutcome.ANSWERED if answer.response else RequestOutcome.LOST
        return replace(record, usage=usage, cost=self._cost(record, usage), outcome=outcome, error=answer.error)

    def _cost(self, record: Record, usage: Usage) -> Decimal | None:
        """Return the cost in USD at the prices of the day on which the request was sent, None if unknown."""
        price = self.catalogue.price(record.model, record.started)
        return price.cost(usage) if price else None

    def _finish(self, call: Call, record: Record, answer: Answer) -> Answer:
        """Write the transcript and close the ledger record; return the answer."""
        try:
            self._transcripts.write(call, record, answer, "model")
        except BaseException:  # a full disk or an interrupt: the ledger must still say that the request was answered
            self.ledger.end(replace(record, transcript=""))
            raise
        self.ledger.end(record)
        return answer

    def _recover(self, record: Record) -> Record:
        """Return the completed record of a request that was in flight when its process died.

        If its transcript had already been written, the request counts as answered. Otherwise the given record is
        returned.
        """
        transcript = self._transcripts.find_by_request(record.number)
        fate = "unknown" if transcript is None else f"answered in {transcript.name}"
        _LOG.info("request %d was in flight when its process died: %s", record.number, fate)
        if transcript is None:
            return record
        known = replace(record, transcript=transcript.name, estimated=transcript.estimated)
        return self._paid(replace(known, latency_s=transcript.latency_s), transcript.answer)


def _record_failure(record: Record, seconds: float, error: BaseException) -> Record:
    """Return the record of a request that ended by ``error`` after ``seconds`` seconds."""
    if not isinstance(error, ProviderError):
        # After an interrupt or a defect of this program, the server may have worked on the request or not.
        return replace(record, latency_s=seconds, outcome=RequestOutcome.UNKNOWN, error=type(error).__name__)
    status = error.status if isinstance(error, TransientError) else None
    failed = replace(record, latency_s=seconds, status=status, error=str(error))
    if isinstance(error, TransientError) and error.lost:  # may be billed, so its cost stays unknown, or 0 if free
        return replace(failed, outcome=RequestOutcome.LOST)
    return replace(failed, outcome=RequestOutcome.REJECTED, cost=Decimal(0))


def _describe_giving_up(error: TransientError, failed: int, too_long: bool) -> str:
    if too_long:
        return f"{error}; it asks to wait {error.retry_after:.0f} s"
    return f"{error} ({failed} times in a row)" if failed > 1 else str(error)
