"""Evaluate a model on gridworld tasks: ``multinet-run-eval`` with the agent of this project among the models."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from gridworld.errors import missing_part
from gridworld.evaluation import cli
from spca.common.command import EXIT_USER_ERROR, complain, program


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit code."""
    try:
        import spca_model
    except ImportError as error:  # numpy is not installed, which every command but --help needs
        complain(f"error: {missing_part(error, program('run_eval.py'))}")
        return EXIT_USER_ERROR
    return cli.main(argv, {"spca": spca_model.ENTRY})


if __name__ == "__main__":
    sys.exit(main())
