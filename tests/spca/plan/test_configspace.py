"""ConfigSpace is put off, and there when something needs it; in processes of their own, for modules stay imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PREPARED = ("configspace.defer()", "from spca.plan import engines, job", "job.prepare()")
USES = (
    "from ConfigSpace import Float",
    "import ConfigSpace; ConfigSpace.Float",
    "assert configspace.load().ConfigurationSpace(space={'a': (0.0, 1.0)})['a'].upper == 1",
    "from ConfigSpace import ConfigurationSpace; assert ConfigurationSpace(space={'a': (0.0, 1.0)})['a'].upper == 1",
)
"""Each gets the library itself."""


def run(*statements: str) -> list[str]:
    script = "\n".join(["import sys", "from spca.plan import configspace", *statements])
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.mark.long
def test_solving_does_without_it() -> None:
    assert run(*PREPARED, "print({'scipy', 'ConfigSpace.api'} & set(sys.modules))") == ["set()"]


@pytest.mark.long
def test_engines_that_are_asked_for_their_parameters_have_them() -> None:
    told = run(
        *PREPARED,
        "names = [name for name in engines.available_engines() if not name.startswith('fast-downward')]",
        "names.remove(engines.OWN)  # it has none",
        "made = [job.get_environment().factory.engine(name).get_configuration_space() for name in names]",
        "import ConfigSpace",
        "print(len(made) == len(names) > 0)",
        "print(all(isinstance(space, ConfigSpace.ConfigurationSpace) and len(space) for space in made))",
    )
    assert told == ["True", "True"]


@pytest.mark.long
def test_any_other_use_gets_the_library() -> None:
    told = run(
        "import ConfigSpace; configspace.defer()",
        "print(sys.modules['ConfigSpace'] is ConfigSpace is configspace.load())  # what has been imported stays",
        f"for use in {USES!r}:",
        "    for name in [name for name in sys.modules if name.partition('.')[0] == 'ConfigSpace']:",
        "        del sys.modules[name]",
        "    configspace.defer()",
        "    assert 'ConfigSpace.api' not in sys.modules",
        "    exec(use)",
        "    print('ConfigSpace.api' in sys.modules)",
    )
    assert told == ["True"] * (1 + len(USES))
