"""What every provider makes of a whole answer, whatever its server puts around it: one request, and it is used."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from spca.llm.providers.base import Finish, Response, ToolCall, Usage
from tests.fakes import faults
from tests.fakes.faults import FaultServer, answering
from tests.fakes.serving import Reply
from tests.support.contracts.providing import ARGUMENTS, GO_TO, Asking, ProviderBench


class ProviderWrappingSuite(ProviderBench):
    """Odd fields, counts and bytes."""

    @pytest.mark.parametrize("count", [None, 6.0])
    def test_counts_may_be_null_or_written_with_a_point(
        self, server: FaultServer, model: Asking, count: float | None
    ) -> None:
        for name, reply in faults.miscounting(self.dialect, count):
            server.reply = reply
            response = model.ask()
            assert response.text == "yes", name
            assert all(each is None or type(each) is int for each in asdict(response.usage).values()), name

    @pytest.mark.parametrize("odd", faults.ODD_VALUES)
    def test_fields_beside_the_content_may_be_anything(self, server: FaultServer, model: Asking, odd: str) -> None:
        server.reply = Reply.of(faults.disfigured(json.loads(answering(self.dialect).body), odd))
        assert model.ask() == Response("yes", Usage())
        called = faults.calling(self.dialect, "go_to", ARGUMENTS)
        server.reply = Reply.of(faults.disfigured(json.loads(called.body), odd))
        response = model.ask(tools=(GO_TO,))
        assert (response.finish, response.tool_calls) == (Finish.TOOL_CALL, (ToolCall("go_to", ARGUMENTS),))

    @pytest.mark.parametrize("odd", faults.ODD_BYTES)
    def test_a_whole_answer_may_come_in_any_bytes(self, server: FaultServer, model: Asking, odd: str) -> None:
        server.reply = faults.ODD_BYTES[odd](self.dialect)
        response = model.ask()
        assert (response.text, response.finish) == ("yes", Finish.STOP)
        assert (response.usage.input_tokens, response.usage.output_tokens) == (11, 7)

    @pytest.mark.parametrize("count", [-1, "7", [7], 1.5], ids=lambda count: repr(count)[:9])
    def test_a_count_that_cannot_be_is_unknown(self, server: FaultServer, model: Asking, count: object) -> None:
        replies = faults.miscounting(self.dialect, count)
        assert len(replies) >= 2
        for name, reply in replies:
            server.reply = reply
            response = model.ask()
            assert response.text == "yes", name
            known = [each for each in asdict(response.usage).values() if each is not None]
            assert all(type(each) is int and 0 <= each < 20 for each in known), name
            assert len(known) < 5 or name.startswith("ephemeral"), name
