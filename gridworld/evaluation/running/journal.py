"""The finished tasks of an evaluation, one line each, kept until the results file is written."""

from spca.common.jobs.journal import Journal, difference

__all__ = ["Journal", "difference"]
