"""Models and what they see and say: the public name of :mod:`gridworld.evaluation.model_interface`."""

from __future__ import annotations

from gridworld.evaluation.file_based import FileBasedModelInterface
from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.evaluation.models import BFSModelInterface, GreedyModelInterface, RandomModelInterface

__all__ = [
    "BFSModelInterface",
    "FileBasedModelInterface",
    "GreedyModelInterface",
    "ModelInput",
    "ModelInterface",
    "ModelOutput",
    "RandomModelInterface",
]
