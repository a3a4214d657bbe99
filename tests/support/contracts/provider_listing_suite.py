"""What every provider that lists its models keeps, whatever protocol it speaks."""

from __future__ import annotations

import json
from typing import Any

import pytest

from spca.errors import BadAnswerError, TransientError
from spca.llm.providers.base import Listing
from tests.fakes import faults
from tests.fakes.faults import FaultServer
from tests.fakes.serving import Reply
from tests.support.contracts.providing import IMPATIENT, KEY, Asking, ProviderBench, exposed


class ProviderListingSuite(ProviderBench):
    """Lists of models."""

    @pytest.mark.parametrize("fault", faults.BROKEN)
    def test_a_list_of_models_that_cannot_be_read(self, server: FaultServer, model: Asking, fault: str) -> None:
        assert isinstance(model.provider, Listing)
        assert [each.name for each in model.provider.list_models()] == list(server.models)
        server.listing = faults.BROKEN[fault](self.dialect)
        with pytest.raises(TransientError) as caught:
            model.provider.list_models(IMPATIENT.timeout_s)
        assert KEY not in exposed(caught.value)

    @pytest.mark.parametrize("body", faults.UNKNOWN_FORMS[1:], ids=json.dumps)
    def test_a_list_of_models_of_no_known_form(self, server: FaultServer, model: Asking, body: Any) -> None:
        assert isinstance(model.provider, Listing)
        server.listing = Reply.of(body | {"data": "many", "models": 3})
        with pytest.raises(BadAnswerError) as caught:
            model.provider.list_models()
        assert KEY not in exposed(caught.value)
