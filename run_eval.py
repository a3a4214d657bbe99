"""Command that evaluates a model on gridworld tasks: ``multinet-run-eval``, with the SPCA agent as a further model."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import spca_model
from gridworld.evaluation import cli


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit code."""
    return cli.main(argv, {"spca": spca_model.ENTRY})


if __name__ == "__main__":
    sys.exit(main())
