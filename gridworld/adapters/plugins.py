"""Plugins of a gridworld evaluation: they add providers of models, in the main process and in its workers."""

from spca.plugins.loaded import loaded_plugins
from spca.plugins.named import load_named_plugins, load_same_plugins

__all__ = ["load_named_plugins", "load_same_plugins", "loaded_plugins"]
