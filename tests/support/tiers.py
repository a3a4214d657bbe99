"""The two tiers of tests: most run always, what repeats a whole system runs by ``scripts/soak long``."""

from __future__ import annotations

from functools import partial
from typing import Final

import pytest

long: Final = partial(pytest.param, marks=pytest.mark.long)
"""A parameter of ``pytest.mark.parametrize`` that repeats what another one shows."""
