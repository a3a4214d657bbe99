"""Who plays the tasks."""

from spca.common.jobs.workers import ENGINES, Engine, find_engine

__all__ = ["ENGINES", "Engine", "find_engine"]
