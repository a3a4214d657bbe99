"""Here as in the solver's process: importing Unified Planning does not import ConfigSpace, which takes a second."""

from __future__ import annotations

from spca.plan import configspace

configspace.defer()
