"""Build a wheel with the applications of the top level in the folder ``spca/_apps``.

At the top of ``site-packages`` they would overwrite other modules called ``agent`` or ``main``. In ``spca/_apps`` only
the commands of this project find them (``spca/__main__.py``). In an editable install they stay in the checkout.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Final

from setuptools.command.build_py import build_py

APPLICATIONS: Final = (
    "main.py",
    "minigridenv.py",
    "plannerLLM.py",
    "coderLLM.py",
    "agent.py",
    "llmclient.py",
    "metrics_logger.py",
    "run_eval.py",
    "spca_model.py",
    "gridworldenv.py",
    "merged_curriculum2.json",
)


class BuildPy(build_py):  # type: ignore[misc]  # setuptools ships no types
    """Builds the packages and, beside them, the folder of applications."""

    def run(self) -> None:
        if not self.editable_mode:  # what an earlier version has left there would be in the wheel
            shutil.rmtree(self.build_lib, ignore_errors=True)
        super().run()
        if not self.editable_mode:
            self.mkpath(str(self._folder))
            for target, source in self._applications().items():
                self.copy_file(source, target)

    def get_source_files(self) -> list[str]:
        """Return the files that a source distribution needs so that a wheel can be built from it."""
        return [*super().get_source_files(), *APPLICATIONS, f"scripts/{Path(__file__).name}"]

    def get_outputs(self, include_bytecode: bool = True) -> list[str]:
        return [*super().get_outputs(include_bytecode), *self._applications()]

    def get_output_mapping(self) -> dict[str, str]:
        return {**super().get_output_mapping(), **self._applications()}

    @property
    def _folder(self) -> Path:
        return Path(self.build_lib) / "spca" / "_apps"

    def _applications(self) -> dict[str, str]:
        """Return file of the wheel -> file of the checkout, {} for an editable install."""
        return {} if self.editable_mode else {str(self._folder / name): name for name in APPLICATIONS}
