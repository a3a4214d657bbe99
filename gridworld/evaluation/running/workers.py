"""Who plays the tasks."""

from spca.common.jobs.dispatch import ENGINES, find_engine

__all__ = ["ENGINES", "find_engine"]
