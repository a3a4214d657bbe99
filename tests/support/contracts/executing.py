"""Short names for what the suites of ``spca.testing`` run generated code with."""

from __future__ import annotations

from spca.testing.generated_code import Event
from spca.testing.generated_code import list_codes as codes
from spca.testing.generated_code import list_frames as pointed_at
from spca.testing.generated_code import make_agent as methods
from spca.testing.generated_code import make_steps as steps
from spca.testing.generated_code import require_failure as failure
from spca.testing.generated_code import run_steps as run

__all__ = ["Event", "codes", "failure", "methods", "pointed_at", "run", "steps"]
