"""Find the modules that a user has named as plugins, import them, and hash their source.

Only the command line, the environment of the process and installed packages name plugins. A run folder and ``.env``
never do, because to import a module is to execute it.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from types import ModuleType
from typing import Final, Self

from spca.common.environment import PLUGINS_VARIABLE
from spca.common.errors import PluginError
from spca.common.text import one_line

FLAG: Final = "--plugin"
"""Flag that names a plugin."""
ENTRY_POINTS: Final = "spca.plugins"
"""Group of entry points by which an installed package names its plugin."""
_PLUGIN_FOLDERS: Final[set[str]] = set()
"""Folders of plugin files, in which modules are searched last."""
_MAX_CAUSE: Final = 300
"""Maximum number of characters of a plugin's error in a message."""


@dataclass(frozen=True, slots=True)
class PluginSource:
    """The module of a plugin.

    Attributes:
        given: the module as the user has named it: a dotted name, or the absolute path of a file.
        module: name under which the module is imported; for a file, the name of the file without ``.py``.
        named_by: what names the plugin, for messages: a flag, a variable or an installed package.
    """

    given: str
    module: str
    named_by: str = FLAG

    @classmethod
    def parse(cls, text: str, named_by: str = FLAG) -> Self:
        """Return the source that a text names; a relative path starts at the working directory.

        Raises:
            PluginError: the text is neither the name of a module nor the path of a file.
        """
        is_path = text.endswith(".py") or os.sep in text
        if not is_path:
            if all(part.isidentifier() for part in text.split(".")):
                return cls(text, text, named_by)
            raise PluginError(f"{named_by} {one_line(text)}: a plugin is a dotted module or the path of a .py file")

        try:
            path = Path.cwd() / Path(text).expanduser()
            is_there = path.is_file()
        except (OSError, RuntimeError, ValueError):  # such as an unknown user, or a name that is too long
            is_there = False
        if not is_there:
            raise PluginError(f"{named_by} {one_line(text)[:_MAX_CAUSE]}: there is no such file")
        if path.suffix != ".py" or not path.stem.isidentifier():
            raise PluginError(
                f"{named_by} {one_line(text)}: the file is to be called NAME.py, with an identifier as NAME"
            )
        return cls(str(path.resolve()), path.stem, named_by)

    @property
    def is_file(self) -> bool:
        """Whether the user has named a file."""
        return self.given.endswith(".py")

    def import_plugin(self) -> ModuleType:
        """Import the module and return it.

        Raises:
            PluginError: the module is missing or raises an error, or a file has the name of another module.
        """
        try:
            return self._import_file() if self.is_file else importlib.import_module(self.module)
        except PluginError:
            raise
        except (Exception, SystemExit) as error:  # boundary: a plugin may raise anything
            is_missing = isinstance(error, ModuleNotFoundError) and f"{self.module}.".startswith(f"{error.name}.")
            if is_missing:
                fix = "install it, set PYTHONPATH to its folder, or give the path of a .py file"
                raise PluginError(f"{self.named_by} {self.given}: there is no such module: {fix}") from error
            raise self.make_error("cannot be imported", error) from error

    def make_error(self, what: str, cause: BaseException) -> PluginError:
        """Return an error of one line: the plugin, what went wrong, and its cause."""
        words = one_line(f"{type(cause).__name__}: {cause}")[:_MAX_CAUSE]
        return PluginError(f"{self.named_by} {self.given}: it {what}: {words}")

    def _import_file(self) -> ModuleType:
        known = sys.modules.get(self.module)
        found = known.__spec__ if known else util.find_spec(self.module)
        origin = Path(found.origin).resolve() if found and found.origin else None
        lies_beside_a_plugin = not known and origin is not None and str(origin.parent) in _PLUGIN_FOLDERS
        if found and origin != Path(self.given) and not lies_beside_a_plugin:
            raise PluginError(f"{self.named_by} {self.given}: another module is called {self.module}: rename the file")
        if known:
            return known

        folder = str(Path(self.given).parent)
        if folder not in sys.path:
            sys.path.append(folder)  # last, so that files beside the plugin replace no module
            _PLUGIN_FOLDERS.add(folder)
        spec = util.spec_from_file_location(self.module, self.given)
        if spec is None or spec.loader is None:
            raise PluginError(f"{self.named_by} {self.given}: Python cannot import such a file")
        module = util.module_from_spec(spec)
        sys.modules[self.module] = module  # first, so that classes of the file can be pickled and imported by name
        try:
            spec.loader.exec_module(module)
        except BaseException:  # boundary: a plugin may raise anything, and half a module is no module
            del sys.modules[self.module]
            raise
        return module

    def find_version(self, module: ModuleType) -> str:
        """Return the version of the plugin's distribution, else its ``__version__``, else ""."""
        top = self.module.partition(".")[0]
        distributions = () if self.is_file else metadata.packages_distributions().get(top, ())
        for name in distributions:
            return metadata.version(name)
        return str(getattr(module, "__version__", "") or getattr(sys.modules.get(top), "__version__", ""))

    def hash_source(self, module: ModuleType) -> str:
        """Return the SHA-256 of the plugin's source: of its file or, in a package, of all Python files of the package.

        Return "" for a module without files.
        """
        top = sys.modules.get(self.module.partition(".")[0], module)
        root = top if getattr(top, "__file__", None) else module  # a namespace package has no file of its own
        location = getattr(root, "__file__", None)
        if not location or not Path(location).is_file():
            return ""
        file = Path(location)
        files = sorted(file.parent.rglob("*.py")) if file.name == "__init__.py" else [file]
        digest = hashlib.sha256()
        for path in files:
            digest.update(path.relative_to(file.parent).as_posix().encode("utf-8", "surrogateescape") + b"\0")
            digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()


def list_named_sources(flags: Sequence[str]) -> tuple[PluginSource, ...]:
    """Return the plugins that flags, the environment and installed packages name, in this order, each once.

    Args:
        flags: values of ``--plugin``.

    Raises:
        PluginError: a text names no module and no file.
    """
    sources = [PluginSource.parse(text) for text in flags]
    listed = re.split(f"[,{re.escape(os.pathsep)}]", os.environ.get(PLUGINS_VARIABLE, ""))
    sources += [PluginSource.parse(text.strip(), PLUGINS_VARIABLE) for text in listed if text.strip()]
    installed = sorted(metadata.entry_points(group=ENTRY_POINTS), key=lambda point: (point.module, point.name))
    sources += [PluginSource(point.module, point.module, f"the installed plugin {point.name},") for point in installed]

    by_module: dict[str, PluginSource] = {}
    for source in sources:
        earlier = by_module.setdefault(source.module, source)
        if earlier.given != source.given and earlier.is_file and source.is_file:
            raise PluginError(f"{earlier.given} and {source.given} are both called {source.module}: rename one of them")
    return tuple(by_module.values())
