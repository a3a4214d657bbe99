"""Public import path of the model interface and the baseline models; the code is in :mod:`gridworld.evaluation`."""

from __future__ import annotations

from gridworld.evaluation.model_interface import ModelInput, ModelInterface, ModelOutput
from gridworld.evaluation.models.baselines import BFSModelInterface, GreedyModelInterface, RandomModelInterface
from gridworld.evaluation.models.file_based import FileBasedModelInterface

__all__ = [
    "BFSModelInterface",
    "FileBasedModelInterface",
    "GreedyModelInterface",
    "ModelInput",
    "ModelInterface",
    "ModelOutput",
    "RandomModelInterface",
]
